// How many parts a text is billed as: the rule of sms/parts.py on the server, character for character.
const BASIC = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
const EXTENSION = new Set("\f^{}\\[~]|€");
const GSM = { alone: 160, joined: 153 };
const UCS = { alone: 70, joined: 67 };

// -> {parts, units, left}: `units` used, `left` room in the last part.
export function countParts(text) {
  const characters = [...text];
  const isGsm = characters.every((c) => BASIC.has(c) || EXTENSION.has(c));
  const room = isGsm ? GSM : UCS;
  const costs = characters.map((c) => (isGsm ? (EXTENSION.has(c) ? 2 : 1) : c.length));
  const units = costs.reduce((sum, cost) => sum + cost, 0);
  if (units <= room.alone) {
    return { parts: 1, units, left: room.alone - units };
  }
  let parts = 1;
  let used = 0;
  for (const cost of costs) {
    if (used + cost > room.joined) {
      parts += 1; // a character of two units is never split over two parts
      used = 0;
    }
    used += cost;
  }
  return { parts, units, left: room.joined - used };
}
