/* A button on every block of code that copies it; of a session, what was typed. */
for (const block of document.querySelectorAll("div.highlight")) {
  const button = document.createElement("button"), text = block.querySelector("pre").innerText;
  const typed = text.split("\n").filter((line) => /^(\$|>>>|\.\.\.) ?/.test(line)).map((line) => line.replace(/^(\$|>>>|\.\.\.) ?/, ""));
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
