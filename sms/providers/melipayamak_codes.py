"""The codes of the Melipayamak panel (`Value` of its REST answers) and its delivery statuses."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from sms.providers.codes import CodeTable, Meaning
from sms.types import DeliveryStatus, Outcome

_REFUSED, _DOWN, _LATER = Outcome.REFUSED, Outcome.UNAVAILABLE, Outcome.THROTTLED

# A wrong sender line is a fault of the account, not of the message: as `REFUSED` it would use up a whole
# list of people before anybody could mend it. So are credentials, credit, documents and addresses.
SEND_CODES: CodeTable = {
    "0": Meaning(_DOWN, _("The user name or password of the SMS account is wrong.")),
    # "Done" in another method, where the ids come beside it. Here it proves nothing.
    "1": Meaning(
        Outcome.IN_DOUBT,
        _("The provider answered without a message id, so the message may or may not have been sent."),
    ),
    "2": Meaning(_DOWN, _("The SMS account has run out of credit.")),
    "3": Meaning(_LATER, _("The daily sending limit of the SMS account is reached.")),
    "4": Meaning(_LATER, _("The sending volume of the SMS account is limited.")),
    "5": Meaning(_DOWN, _("The sender line is not valid for this SMS account.")),
    "6": Meaning(Outcome.NOT_SENT, _("The provider is updating its system; nothing was sent.")),
    "7": Meaning(_REFUSED, _("The text contains a word that the provider filters.")),
    "8": Meaning(_REFUSED, _("The provider does not send fewer messages at once than its minimum.")),
    "9": Meaning(_DOWN, _("A public line cannot be used here. Choose a line of your own as the sender.")),
    "10": Meaning(_DOWN, _("The SMS account is not active.")),
    # No source says why, so none promises that another try would help.
    "11": Meaning(_REFUSED, _("The provider did not send the message and gave no reason.")),
    "12": Meaning(_DOWN, _("The documents of the SMS account are incomplete.")),
    "14": Meaning(_REFUSED, _("The text contains a link, which this line may not send.")),
    "15": Meaning(_REFUSED, _("The text must end with the opt-out word required by the provider.")),
    "16": Meaning(_REFUSED, _("The provider found no receiving number in the message.")),
    "17": Meaning(_REFUSED, _("The text is empty.")),
    "18": Meaning(_REFUSED, _("The receiving number is not valid.")),
    "19": Meaning(_LATER, _("The hourly limit of the SMS account is reached.")),
    "35": Meaning(_REFUSED, _("The receiver has blocked advertising messages at the operator.")),
    "100": Meaning(_REFUSED, _("The provider refused the message because no sender line was given.")),
    "-1": Meaning(_DOWN, _("Access to the provider's web service is switched off for this account.")),
    "-2": Meaning(_REFUSED, _("The provider takes only one number in this kind of message.")),
    "-3": Meaning(_DOWN, _("The sender line is not defined at the provider.")),
    "-4": Meaning(_DOWN, _("The approved text number is wrong or not yet approved by the provider.")),
    "-5": Meaning(_REFUSED, _("The values do not fit the variables of the approved text.")),
    "-6": Meaning(
        Outcome.NOT_SENT, _("The provider reports an error of its own. Ask its support if it goes on.")
    ),
    "-7": Meaning(_DOWN, _("The provider reports a fault in the sender line. Ask its support.")),
    "-10": Meaning(_REFUSED, _("A value of the approved text contains a link.")),
    "-108": Meaning(_DOWN, _("The provider has blocked this server's address after failed attempts.")),
    "-109": Meaning(_DOWN, _("Register this server's address as allowed in the provider's panel first.")),
    "-110": Meaning(_DOWN, _("The provider wants the API key instead of the password.")),
    "-111": Meaning(_DOWN, _("This server's address is not on the allowed list in the provider's panel.")),
    "-112": Meaning(_DOWN, _("The web service is disabled for this SMS account.")),
}

DELIVERY_CODES: Mapping[str, DeliveryStatus] = {
    "-1": DeliveryStatus.PENDING,  # no status from the operator yet
    "0": DeliveryStatus.SENT,  # sent to the operator
    "1": DeliveryStatus.DELIVERED,
    "2": DeliveryStatus.UNDELIVERED,
    "3": DeliveryStatus.FAILED,  # operator error
    "5": DeliveryStatus.UNKNOWN,  # "unknown error": may still turn into an answer
    "8": DeliveryStatus.SENT,  # reached the operator
    "16": DeliveryStatus.FAILED,  # did not reach the operator
    "35": DeliveryStatus.REJECTED,  # the receiver's own block list
    "100": DeliveryStatus.UNKNOWN,
    "200": DeliveryStatus.SENT,
    "300": DeliveryStatus.REJECTED,  # filtered
    "400": DeliveryStatus.PENDING,  # in the provider's queue
    "500": DeliveryStatus.REJECTED,  # not accepted
}
