"""What this app stores sealed, for whoever rotates keys."""

from __future__ import annotations

from core.rotation import SealedColumn, register_sealed
from sms.models import ProviderAccount


def register() -> None:
    register_sealed(
        SealedColumn(
            name="provider credentials",
            rows=ProviderAccount.unscoped.all,
            column="sealed_credentials",
            bound_to=lambda row: str(row.seal_binding),
        )
    )
