/* Compute the map in a worker, which runs the page's script without a document. */
let worker = null;
let workerTried = false;
let currentTask = null;
let queuedTask = null;
let taskNumber = 0;

const RECEIVE_EVERY = 24;

/* In the worker: receive the bounds, then compute one map after the other, first coarsely, then completely; newer tasks are
received every few milliseconds. */
function runWorker() {
  let newest = 0;
  globalThis.onmessage = ({ data }) => {
    if (data.bounds) {
      ({ bounds, atlas } = data);
      return;
    }
    const { number, target, given, upTo, only } = data;
    const begin = performance.now();
    newest = number;
    const work = (steps, coarse) => {
      if (newest !== number) return;
      const pause = performance.now() + RECEIVE_EVERY;
      let next = steps.next();
      while (!next.done && (coarse || performance.now() < pause)) next = steps.next();
      if (next.done) send({ number, coarse, made: next.value, busy: performance.now() - begin });
      else setTimeout(() => work(steps, false));
    };
    if (!only) work(computeMap(target, given, upTo, "", ROUGH), true);
    work(computeMap(target, given, upTo, only), false);
  };
}

function send(answer) {
  const arrays = [...answer.made.fields.values()].flatMap(({ value, level, share }) => [
    value.buffer,
    level.buffer,
    share.buffer,
  ]);
  const place = /** @type {any} */ (globalThis);
  place.postMessage(answer, arrays);
}

/* Start the worker once, if the browser allows it. */
function startWorker() {
  if (workerTried) return;
  workerTried = true;
  try {
    const text = document.querySelector("script:not([type])").textContent;
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    worker = new Worker(address);
    worker.onmessage = ({ data }) => receiveMap(data);
    worker.onerror = (event) => {
      event.preventDefault();
      stopWorker();
    };
    worker.postMessage({ bounds, atlas });
  } catch {
    worker = null;
  }
}

/* Without a worker the page computes in short slices. */
function stopWorker() {
  worker?.terminate();
  worker = null;
  currentTask = queuedTask = null;
  if (mapGrid?.stale !== false) recompute();
}

/* While a coarse map is computed only the newest task is queued; a fine one is replaced at once. */
function requestMap(task) {
  if (currentTask && !currentTask.only && !currentTask.seen) {
    queuedTask = task;
    return;
  }
  currentTask = task;
  taskNumber += 1;
  worker.postMessage({ number: taskNumber, target: task.target, given: task.given, upTo: task.upTo, only: task.only });
}

/* Compute the shown theorem finely, once per map, if it has constants to choose. */
function refine() {
  const { theorem } = state;
  const b = atlas.bounds[theorem];
  if (
    !worker ||
    (currentTask && !currentTask.only) ||
    mapGrid.stale ||
    mapGrid.fine.has(theorem) ||
    !b ||
    !(b.free || b.pair.length)
  )
    return;
  if (currentTask) mapGrid.fine.delete(currentTask.only);
  mapGrid.fine.add(theorem);
  requestMap({ ...mapGrid, only: theorem });
}

function receiveMap({ number, made, busy, coarse }) {
  if (number !== taskNumber) return;
  const { begin, target, only, fine } = currentTask;
  const more = queuedTask;
  queuedTask = null;
  if (coarse) currentTask.seen = true;
  else currentTask = null;
  if (more) requestMap(more);
  if (target !== state.target) return;
  if (!only) {
    timings.maps.push([busy, performance.now() - begin]);
    mapGrid = { ...made, stale: coarse || Boolean(more), fine: new Set() };
  } else if (fine === mapGrid.fine && made.fields.has(only)) mapGrid.fields.set(only, made.fields.get(only));
  drawMap();
}
