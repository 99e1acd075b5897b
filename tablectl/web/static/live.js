// A stream that never gives up: EventSource reconnects by itself; where it will not, we open a new one.

const AGAIN_MS = 2000;

/** Listen to `url`; `handlers` by event name get parsed JSON; `onState` hears "live" or "lost". */
export function listen(url, handlers, onState) {
  let source = null;
  const open = () => {
    source = new EventSource(url);
    source.onopen = () => onState("live");
    source.onerror = () => {
      onState("lost");
      if (source.readyState === EventSource.CLOSED) setTimeout(open, AGAIN_MS);
    };
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (message) => handle(JSON.parse(message.data)));
    }
  };
  open();
}
