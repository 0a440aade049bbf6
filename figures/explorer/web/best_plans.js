/* Show the plans with the smallest bound and the best known evidence within this budget, with a button for each. */
function showBestPlans() {
  if (!mapGrid || mapGrid.stale) return;
  const best = bestOf(mapGrid);
  const parts = [];
  if (best) {
    const { given, upTo } = currentInputs();
    const scenario = scenarioOf({ ...given, local_steps: best.steps, step_size: best.size }, upTo);
    const bound = bounds.get(mappedTheorem());
    const row = byTheorem(
      bound
        ? rowsOf(bound, mapGrid.target, scenario, equivalentMachine(scenario))
        : compareTheorems(mapGrid.target, scenario),
    ).find((one) => mappedTheorem() || !one.printed);
    const edge =
      best.steps === 1 || best.steps >= MAX_STEPS * 0.95 || mapGrid.sizes.indexOf(best.size) % (SIDE - 1) === 0;
    if (row)
      parts.push(
        element(
          "p",
          {},
          element("strong", {}, "Smallest bound: "),
          `${formatted(row.value, 3)} at K = ${best.steps}, η = ${formatted(best.size, 3)}${mappedTheorem() ? "" : ` (${titleOf(row.bound.name)})`}${edge ? ", at the edge of the map" : ""}. `,
          goToPlanButton(best.steps, best.size, state.theorem),
        ),
      );
  }
  parts.push(...bestEvidence());
  setContent("run-table", ...(parts.length ? parts : [element("p", {}, "No plan on this map has a value.")]));
}

function goToPlanButton(steps, size, name) {
  const go = element("button", { type: "button" }, "Go there");
  go.setAttribute("aria-label", `go to K = ${steps}, step size ${formatted(size, 3)}`);
  go.addEventListener("click", () => {
    Object.assign(state.plan, { local_steps: steps, step_size: size });
    updateControls("local_steps", "step_size");
    pickTheorem(name);
  });
  return go;
}

/* The best plan by exact worst case, and the best by measurement. */
function bestEvidence() {
  return evidencePlans
    .filter((one, k) => k === 0 || evidencePlans[k - 1].kind !== one.kind)
    .map(({ kind, steps, size, value, above, from }) =>
      element(
        "p",
        {},
        element("strong", {}, kind === "worst" ? `Smallest ${worstLabel(above)}: ` : "Best measured: "),
        `${formatted(value, 3)} at K = ${steps}, η = ${formatted(size, 3)}${kind === "worst" ? "" : ` (${from})`}. `,
        goToPlanButton(steps, size, state.theorem),
      ),
    );
}
