/* Which theorems apply: those whose assumptions are all ticked, or follow from what is, come first. */
const form = document.getElementById("which"), body = document.querySelector("#theorems tbody");
const boxes = [...form.querySelectorAll("input")], rows = [...body.rows];

function sift() {
  const given = new Set(boxes.filter((box) => box.checked).flatMap((box) => box.dataset.gives.split(" ")));
  const target = form.querySelector("select").value;
  for (const row of rows) {
    const lacking = [...row.querySelectorAll("[data-name]")].filter((name) => {
      name.classList.toggle("given", given.has(name.dataset.name));
      return !given.has(name.dataset.name);
    });
    row.dataset.lacking = lacking.length;
    row.classList.toggle("applies", !lacking.length);
    row.hidden = Boolean(target) && row.dataset.target !== target;
  }
  if (given.size) body.append(...[...rows].sort((a, b) => a.dataset.lacking - b.dataset.lacking));
  const left = rows.filter((row) => !row.hidden), applying = left.filter((row) => row.dataset.lacking === "0");
  form.querySelector("output").textContent = given.size ? `${applying.length} of ${left.length} theorems lack nothing` : "";
}
form.addEventListener("input", sift);
form.addEventListener("submit", (event) => event.preventDefault());
sift();
