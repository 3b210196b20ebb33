// Asking once before something is done.
import { html, toast, ProblemBox } from './parts.js';
import { store } from './format.js';
import { useEffect, useRef, useState } from './vendor-preact-htm.js';

const open = store(null);

/** Shows a dialog; its content gets close(). */
export const show = (title, Content, props = {}) => open.set({ title, Content, props, before: document.activeElement });

export function close() {
  const before = open.get()?.before;
  open.set(null);
  if (before?.isConnected) before.focus();
}

export function Dialogs() {
  const shown = open.use();
  const dialog = useRef(null);
  useEffect(() => {
    if (shown && dialog.current && !dialog.current.open) dialog.current.showModal();
  }, [shown]);
  if (!shown) return null;
  const { title, Content, props } = shown;
  return html`<dialog ref=${dialog} aria-labelledby="dialog-title" onClose=${close} onCancel=${close}>
    <h2 id="dialog-title">${title}</h2><${Content} ...${props} close=${close} />
  </dialog>`;
}

/** What is to be done, with a reason if it takes one; the outcome is told. */
function Confirm({ words, verb, tone, reason, act, done, close, input }) {
  const [why, setWhy] = useState('');
  const [text, setText] = useState(input?.value ?? '');
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      const answer = await act({ reason: why || undefined, text });
      close();
      toast(typeof done === 'function' ? done(answer) : done);
    } catch (e) {
      setProblem(e);
      setBusy(false);
    }
  };
  return html`<form onSubmit=${submit}>
    <p>${words}</p>
    ${input ? html`<label>${input.label}<textarea rows=${input.rows ?? 1} value=${text} onInput=${(e) => setText(e.currentTarget.value)} spellcheck="false"></textarea></label>` : null}
    ${reason ? html`<label>Reason, for the history<input value=${why} maxlength="1024" onInput=${(e) => setWhy(e.currentTarget.value)} placeholder="optional" /></label>` : null}
    <${ProblemBox} problem=${problem} />
    <footer><button type="button" onClick=${close}>Leave it</button><button type="submit" class=${tone ?? 'primary'} disabled=${busy}>${busy ? 'Asking…' : verb}</button></footer>
  </form>`;
}

/** A button that asks once, or acts at once where nothing is lost by it. */
export function Act({ label, title, words, verb, tone, reason, act, done, then, input, ask = true }) {
  const finish = (answer) => {
    then?.(answer);
    return typeof done === 'function' ? done(answer) : done;
  };
  const click = async () => {
    if (ask) {
      show(title ?? label, Confirm, { words, verb: verb ?? label, tone, reason, act, done: finish, input });
      return;
    }
    try {
      toast(finish(await act({})));
    } catch (e) {
      toast(e.message, 'bad');
      then?.(null);
    }
  };
  return html`<button type="button" class=${ask && tone === 'danger' ? 'danger' : ''} onClick=${click}>${label}</button>`;
}
