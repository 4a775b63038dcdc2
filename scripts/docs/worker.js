// Workers for pages opened from disk, where browsers allow none: the script runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    onmessage = null;
    onerror = null;
    onmessageerror = null;
    #frame = document.createElement("iframe");
    #started;

    constructor(url) {
      super();
      this.#frame.hidden = true;
      document.body.append(this.#frame);
      const inner = this.#frame.contentWindow;
      // Both sides must get copies, as from a worker, or they would change each other's data.
      inner.postMessage = (answer) => {
        const data = structuredClone(answer);
        setTimeout(() => this.#tell("message", { data }));
      };
      this.#started = new Promise((resolve, reject) => {
        const script = inner.document.createElement("script");
        script.src = new URL(url, location.href).href;
        script.onload = () => resolve(inner);
        script.onerror = reject;
        inner.document.body.append(script);
      });
      this.#started.catch(() => this.#tell("error", {}));
    }

    #tell(kind, fields) {
      const event = new MessageEvent(kind, fields);
      this.dispatchEvent(event);
      this[`on${kind}`]?.(event);
    }

    postMessage(message) {
      const data = structuredClone(message);
      this.#started.then((inner) => inner.onmessage?.({ data })).catch(() => undefined);
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
