/* A button on every block of code that copies it; of a session, what was typed, with the lines on which it goes on. */
function commands(text) {
  const prompt = /^(\$|>>>|\.\.\.) ?/, typed = [];
  let on = false;
  for (const line of text.split("\n")) {
    if (on || prompt.test(line)) typed.push(on ? line : line.replace(prompt, ""));
    on = line.endsWith("\\") && (on || line.startsWith("$"));
  }
  return typed;
}

for (const block of document.querySelectorAll("div.highlight")) {
  const button = document.createElement("button"), text = block.querySelector("pre").innerText;
  const typed = commands(text);
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(typed.length ? typed.join("\n") : text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block.querySelector("pre")); // no clipboard: it is marked instead
      button.textContent = "Marked";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.append(button);
}
