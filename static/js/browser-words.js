// What browsers say in their own language, said in the page's: an empty field, and the field for a file.
// The words stand on the body; without scripts the browser's own stay.
const words = document.body.dataset;

document.addEventListener(
  "invalid",
  ({ target }) => {
    const { typeMismatch, valueMissing } = target.validity;
    const said = valueMissing ? words.saysEmpty : typeMismatch ? words.saysWrong : "";
    if (said) {
      target.setCustomValidity(said);
    }
  },
  true,
);

// A message of ours would keep the field wrong for ever: it goes with the next key, choice or attempt.
const forget = (controls) => {
  for (const control of controls) {
    if (control.validity?.customError) {
      control.setCustomValidity("");
    }
  }
};

for (const kind of ["input", "change"]) {
  document.addEventListener(kind, ({ target }) => forget(target.form?.elements ?? [target]));
}

document.addEventListener("click", ({ target }) => forget(target.closest?.("button")?.form?.elements ?? []), true);

const part = (name, text) => {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
};

// The control itself lies over what is shown, unseen: click, drop, key and focus stay the browser's.
for (const input of document.querySelectorAll("input.file")) {
  const name = part("file-name", words.saysNoFile);
  name.dir = "auto";
  const face = part("file-face", "");
  face.setAttribute("aria-hidden", "true");
  face.append(part("file-choose", words.saysChooseFile), name);
  const box = part("file-box", "");
  input.before(box);
  box.append(input, face);
  const show = () => (name.textContent = input.files[0]?.name ?? words.saysNoFile);
  input.addEventListener("change", show);
  show();
}
