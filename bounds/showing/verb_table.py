"""The verbs of the command line: the function of each, with an example that works as printed."""

from __future__ import annotations

from .command_line import Output, Verb

GAP = "smoothness=1.1 strong_convexity=0.1 client_weight=uniform local_gap=0.03 non_iidness=0.01"
SITES = "@examples/sites.json"
BOUNDS, SETTING, EXPERIMENTS, AUDIT, SHELL = "Bounds", "Your setting", "Experiments", "Audit", "Getting started"
VALUES = "bounds.showing.reading:GRAMMAR"
ANSWERS = "bounds.showing.answers:ANSWERS_JSON"
COMPLETION = "paper_checks.listing:completion"
SHELLS = ("bash", "zsh", "fish")

VERBS = {
    "list": Verb(
        BOUNDS,
        "paper_checks.listing:list_",
        "List the bounds of the papers, the quantities, the data sets or the algorithms.",
        "fedbounds list --paper fedals",
        ("paper_checks.listing:LIST_JSON",),
    ),
    "show": Verb(
        BOUNDS,
        "bounds.verbs:show",
        "Show a bound: terms, conditions, and every quantity.",
        "fedbounds show fedals.one_round",
        ("bounds.showing.cards:SHOW_JSON",),
    ),
    "eval": Verb(
        BOUNDS,
        "bounds.verbs:evaluate",
        "Evaluate a bound and its terms at your numbers.",
        f"fedbounds eval fedals.one_round clients=5:50:4 {GAP}",
        (VALUES, "bounds.showing.answers:EVAL_JSON", ANSWERS),
    ),
    "minimize": Verb(
        BOUNDS,
        "bounds.verbs:minimize",
        "Find where a bound is smallest; without numbers, as a formula.",
        "fedbounds minimize decaying_k.per_rounds over=local_steps",
        (VALUES, ANSWERS),
    ),
    "solve": Verb(
        BOUNDS,
        "bounds.verbs:solve",
        "Find the largest or smallest value of a quantity that keeps a bound below a target.",
        f"fedbounds solve fedals.one_round for=clients target=0.1 --smallest {GAP}",
        (VALUES, ANSWERS),
    ),
    "plot": Verb(
        BOUNDS,
        "figures.curves:plot",
        "Draw one bound term by term, or compare several, along one quantity.",
        f"fedbounds plot fedals.one_round x=clients=2:40:39 {GAP} -o gap.svg",
        (VALUES,),
        json=False,
    ),
    "explore": Verb(
        BOUNDS,
        "figures.explorer.command:explore",
        "Explore bounds on a page in the browser, without a server.",
        "fedbounds explore fedals.one_round -o one_round.html",
        output=Output(
            "FILE",
            "Write the page to this file instead of opening it in the browser.",
            "figures.explorer.command:save",
            (".html", ".htm"),
            without="figures.explorer.command:open_page",
            alone=True,
        ),
        json=False,
    ),
    "compare": Verb(
        SETTING,
        "paper_checks.comparing.api:compare",
        "Compare all bounds on one quantity in your setting and show which are informative.",
        f"fedbounds compare grad_norm_sq {SITES} cohort=10 local_steps=16 step_size=0.028 runtime=20",
        ("paper_checks.comparing.api:COMPARE_WORDS", "paper_checks.comparing.table:COMPARE_JSON"),
        check="paper_checks.comparing.api:check_compare",
        fails=lambda table: table.exceeded,
    ),
    "advise": Verb(
        SETTING,
        "paper_checks.comparing.api:advise",
        "Recommend local steps and step size by theorems, the quadratic surrogate and training.",
        f"fedbounds advise optimality_gap {SITES} cohort=10 runtime=20",
        ("paper_checks.comparing.api:ADVISE_WORDS", "paper_checks.comparing.advice_table:ADVISE_JSON"),
        check="paper_checks.comparing.api:check",
        fails=lambda table: not table.useful,
    ),
    "train": Verb(
        SETTING,
        "empirics.verbs:train",
        "Train a federation and measure it.",
        'fedbounds train --problem "softmax(digits)" --clients 10 --partition "dirichlet(1)" --seeds 3',
        ("empirics.verbs:PROBLEM", "empirics.verbs:TRAIN_JSON"),
        data="empirics.measuring.trained:as_json",
    ),
    "constants": Verb(
        SETTING,
        "empirics.verbs:constants",
        "Estimate L, mu, sigma^2, G^2, B^2, Gamma of a problem, for eval, solve and plot as @FILE.",
        'fedbounds constants --problem "softmax(digits)" --clients 10 -o c.json',
        ("empirics.verbs:PROBLEM",),
        Output(
            "FILE",
            "Write this JSON file, which other verbs take as @FILE.",
            "empirics.verbs:save",
            (".json",),
            alone=True,
        ),
    ),
    "validate": Verb(
        SETTING,
        "paper_checks.validation.command:validate",
        "Compare a measurement with a bound. Without a name, list the bounds this works for.",
        "fedbounds validate fedals.one_round",
        ("paper_checks.validation.options:WAYS", "paper_checks.validation.options:VALIDATE_JSON"),
        Output("DIR", "Folder of the CSV file and the JSON card (./out).", "figures.one_round:write_all", (), "out"),
        data="figures.one_round:as_json",
        fails=lambda found: getattr(found, "violations", ()),
    ),
    "sweep": Verb(
        EXPERIMENTS,
        "empirics.experiments.command:sweep",
        "Run a grid of experiments into a store; may be stopped and resumed.",
        "fedbounds sweep examples/beta.toml --workers 0",
        ("empirics.experiments.command:OWN", "empirics.experiments.command:SWEEP_JSON"),
    ),
    "results": Verb(
        EXPERIMENTS,
        "figures.results:results",
        "Show what a store holds, as a tidy table or a picture.",
        "fedbounds results quantity=train_loss",
        ("figures.results:AXES",),
    ),
    "figure": Verb(
        EXPERIMENTS,
        "figures.command:figure",
        "Make the papers' figures and tables beside what they report. Without a name, list them.",
        "fedbounds figure fedinit.table_3 --scale smoke",
        ("figures.command:FIGURE_JSON",),
    ),
    "check": Verb(
        AUDIT,
        "paper_checks.audit.command:check",
        "Check the claims of the papers by machine.",
        "fedbounds check decaying_k.theorem_2",
        ("paper_checks.audit.command:CHECK_JSON",),
    ),
    "falsify": Verb(
        AUDIT,
        "paper_checks.falsifier.command:falsify",
        "Search for an instance that meets every assumption and violates a bound.",
        "fedbounds falsify fedcog.smoothness_step --evaluations 200",
        ("paper_checks.falsifier.command:FALSIFY_JSON",),
    ),
    "tightness": Verb(
        AUDIT,
        "paper_checks.worst_case.tightness:tightness",
        "Compare a bound with its exact worst case; show which K is best. Without a name, list bounds in reach.",
        "fedbounds tightness fedcog.theorem rounds=2 local_steps=1:4:4",
        ("paper_checks.worst_case.tightness:TIGHTNESS_JSON",),
    ),
    "rate": Verb(
        AUDIT,
        "paper_checks.worst_case.rate:rate",
        "Certify the smallest contraction per round of a method.",
        'fedbounds rate "scaffold()" local_steps=5 step_size=0.1 smoothness=1 strong_convexity=0.1',
        ("paper_checks.worst_case.rate:METHODS", "paper_checks.worst_case.rate:RATE_JSON"),
        fails=lambda rates: not rates.found,
    ),
    "examples": Verb(
        SHELL,
        "paper_checks.listing:examples",
        "Copy examples of your own bounds, algorithms, data and sweeps into a folder.",
        "fedbounds examples",
        json=False,
    ),
    "completion": Verb(
        SHELL,
        COMPLETION,
        "Print a script that lets the shell complete verbs and options.",
        "fedbounds completion bash",
        json=False,
    ),
}
QUESTIONS = {
    "What does a theorem say?": "show",
    "Which theorems are informative for my federation?": "compare",
    "What should I run?": "advise",
    "Does a paper's claim hold?": "check",
}
"""Questions of users, and the verb that answers each."""
START = "\n".join(
    [
        "The bounds of federated learning: evaluated, measured, compared, checked.",
        "",
        *(f"{question}\n  {VERBS[name].example}" for question, name in QUESTIONS.items()),
        "",
        "fedbounds examples copies the folder examples that they use.",
        f"fedbounds --help lists all {len(VERBS)} verbs; fedbounds VERB --help says more.",
    ]
)
"""The output of ``fedbounds`` without arguments, for new users."""
