/* Compute the map in a worker, which runs the page's script without a document. */
let thread = null, tried = false, underWay = null, nextUp = null, taskNumber = 0;

const HEARD = 24;

/* In the worker: receive the bounds, then compute one map after the other, first coarsely, then completely; newer tasks are
received every few milliseconds. */
function serve() {
  let newest = 0;
  globalThis.onmessage = ({ data }) => {
    if (data.bounds) { ({ bounds, atlas } = data); return; }
    const { number, target, given, upTo, only } = data, begin = performance.now();
    newest = number;
    const work = (steps, rough) => {
      if (newest !== number) return;
      const pause = performance.now() + HEARD;
      let next = steps.next();
      while (!next.done && (rough || performance.now() < pause)) next = steps.next();
      if (next.done) send({ number, rough, made: next.value, busy: performance.now() - begin });
      else setTimeout(() => work(steps, false));
    };
    if (!only) work(plane(target, given, upTo, "", ROUGH), true);
    work(plane(target, given, upTo, only), false);
  };
}

function send(answer) {
  const arrays = [...answer.made.found.values()].flatMap(({ value, level, share }) => [value.buffer, level.buffer, share.buffer]), place = /** @type {any} */ (globalThis);
  place.postMessage(answer, arrays);
}

/* Start the worker once, if the browser allows it. */
function startThread() {
  if (tried) return;
  tried = true;
  try {
    const text = document.querySelector("script:not([type])").textContent, address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    thread = new Worker(address);
    thread.onmessage = ({ data }) => receiveMap(data);
    thread.onerror = (event) => { event.preventDefault(); dropThread(); };
    thread.postMessage({ bounds, atlas });
  } catch { thread = null; }
}

/* Without a worker the page computes in short slices. */
function dropThread() {
  thread?.terminate();
  thread = null;
  underWay = nextUp = null;
  if (drawn?.stale !== false) recompute();
}

/* While a coarse map is computed only the newest task is queued; a fine one is replaced at once. */
function ask(task) {
  if (underWay && !underWay.only && !underWay.seen) { nextUp = task; return; }
  underWay = task;
  taskNumber += 1;
  thread.postMessage({ number: taskNumber, target: task.target, given: task.given, upTo: task.upTo, only: task.only });
}

/* Compute the shown theorem finely, once per map, if it has constants to choose. */
function refine() {
  const { theorem } = fed, b = atlas.bounds[theorem];
  if (!thread || (underWay && !underWay.only) || drawn.stale || drawn.fine.has(theorem) || !b || !(b.free || b.pair.length)) return;
  if (underWay) drawn.fine.delete(underWay.only);
  drawn.fine.add(theorem);
  ask({ ...drawn, only: theorem });
}

function receiveMap({ number, made, busy, rough }) {
  if (number !== taskNumber) return;
  const { begin, target, only, fine } = underWay, more = nextUp;
  nextUp = null;
  if (rough) underWay.seen = true;
  else underWay = null;
  if (more) ask(more);
  if (target !== fed.target) return;
  if (!only) {
    taken.planes.push([busy, performance.now() - begin]);
    drawn = { ...made, stale: rough || Boolean(more), fine: new Set() };
  } else if (fine === drawn.fine && made.found.has(only)) drawn.found.set(only, made.found.get(only));
  paintPlane();
}
