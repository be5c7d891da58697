// Below the sitting: how much to remember and how fast, and the log's own affairs (export, import,
// erase).
import { h, saveAs } from "../../handful_explorers/web/dom.js";
import { plural } from "../../handful_explorers/web/units.js";
import { MOST_BYTES } from "./log.js";
import { span, stretch, zoneAt } from "./spaced_repetition.js";
import { dateOf, percent } from "./wording.js";

/** @typedef {import("./store.js").Store} Store */

/**
 * @param {Store} store
 * @param {Chapter[]} chapters
 */
export function settingsForm(store, chapters) {
  const retention = h("input", {
    type: "range",
    id: "study-retention",
    min: 70,
    max: 99,
    step: 1,
    "aria-describedby": "study-retention-note",
  });
  const shown = h("output", { for: "study-retention" }),
    perDay = h("input", {
      type: "number",
      id: "study-per-day",
      min: 0,
      max: 1000,
      step: 1,
      inputmode: "numeric",
    });
  const boxes = chapters.map(({ name, title }) => {
    const box = h("input", { type: "checkbox", value: name });
    return { name, box, label: h("label", { class: "study-check" }, box, ` ${title}`) };
  });
  const all = h("p", { class: "study-note" });
  const chosen = () => boxes.filter(({ box }) => box.checked).map(({ name }) => name);
  const effect = h("p", { class: "study-note", id: "study-retention-note" });
  const write = () => {
    const share = Number(retention.value) / 100,
      days = Math.max(1, Math.round(30 * stretch(share)));
    shown.textContent = percent(share);
    const longer =
        `A card that would come back after 30 days at 90 % comes back after ` +
        `${span({ days })}.`,
      change = share === 0.9 ? "This is the usual value." : longer;
    effect.textContent = `${change} The dates of all cards follow at once.`;
  };
  const tell = () => {
    const n = chosen().length;
    all.textContent = n
      ? `New cards come from ${plural(n, "chapter")}.`
      : "None chosen: new cards come from every chapter, in order.";
  };
  const fill = () => {
    retention.value = String(Math.round(100 * store.settings.retention));
    perDay.value = String(store.settings.new_per_day);
    for (const { name, box } of boxes) box.checked = store.settings.chapters.includes(name);
    write();
    tell();
  };
  /**
   * @param {keyof Settings} name
   * @param {unknown} value
   */
  const set = (name, value) => {
    if (JSON.stringify(value) !== JSON.stringify(store.settings[name]))
      store.add(/** @type {const} */ ("setting"), { name, value });
  };
  retention.addEventListener("input", write);
  retention.addEventListener("change", () => set("retention", Number(retention.value) / 100));
  perDay.addEventListener("change", () => {
    const value = Math.round(Number(perDay.value));
    // What is set comes into force when it has been kept.
    if (perDay.value.trim() !== "" && value >= 0 && value <= 1000) set("new_per_day", value);
    else perDay.value = String(store.settings.new_per_day);
  });
  for (const { box } of boxes)
    box.addEventListener("change", () => {
      tell();
      set("chapters", chosen());
    });
  store.on((where) => {
    if (where === "elsewhere") fill();
  });
  fill();
  return h(
    "form",
    { class: "study-settings", onsubmit: (event) => event.preventDefault() },
    h(
      "div",
      { class: "study-field" },
      h("label", { for: "study-retention", text: "Of the cards that come up, remember" }),
      h("span", { class: "study-range" }, retention, shown),
      effect,
    ),
    h(
      "div",
      { class: "study-field" },
      h("label", { for: "study-per-day", text: "New cards a day" }),
      perDay,
    ),
    boxes.length > 1
      ? h(
          "fieldset",
          { class: "study-field" },
          h("legend", { text: "New cards come from" }),
          ...boxes.map(({ label }) => label),
          all,
        )
      : null,
  );
}

/**
 * @param {Store} store
 * @param {() => void} exported
 * @param {(text: string) => void} say
 */
function eraseDialog(store, exported, say) {
  const word = h("input", {
      type: "text",
      id: "study-erase-word",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
    }),
    text = h("p", { id: "study-erase-text" });
  const sure = h("button", {
    type: "submit",
    class: "study-button study-danger",
    disabled: true,
    text: "Erase everything",
  });
  word.addEventListener("input", () => {
    sure.disabled = word.value.trim().toLowerCase() !== "erase";
  });
  /** @type {HTMLDialogElement} */
  const dialog = h(
    "dialog",
    {
      class: "study-dialog",
      "aria-labelledby": "study-erase-title",
      "aria-describedby": "study-erase-text",
    },
    h("p", {
      class: "study-title",
      id: "study-erase-title",
      text: "Erase what you have learnt here?",
    }),
    text,
    h(
      "form",
      {
        method: "dialog",
        onsubmit: async (event) => {
          event.preventDefault();
          if (sure.disabled) return;
          dialog.close();
          await store.erase();
          say("Everything is erased; every card is new again.");
        },
      },
      h("label", { for: "study-erase-word" }, "Type ", h("b", { text: "erase" }), " to go on"),
      word,
      h(
        "div",
        { class: "study-buttons" },
        h("button", {
          type: "button",
          class: "study-button",
          text: "Cancel",
          onclick: () => dialog.close(),
        }),
        h("button", {
          type: "button",
          class: "study-button",
          text: "Export first",
          onclick: exported,
        }),
        sure,
      ),
    ),
  );
  return {
    dialog,
    async open() {
      const { events } = await store.about();
      text.textContent =
        `${plural(events, "entry", "entries")} of your log will be gone from this browser, and ` +
        "nobody else has them: answers, dates, problems solved, settings.";
      word.value = "";
      sure.disabled = true;
      dialog.showModal();
      word.focus();
    },
  };
}

/** @param {Store} store */
export function dataPanel(store) {
  const about = h("p", { class: "study-note" }),
    said = h("p", { class: "study-note", role: "status" });
  const say = (/** @type {string} */ text) => {
    said.textContent = text;
  };
  const keptWhere = (/** @type {boolean} */ persisted) => {
    if (store.trouble) return "It is in this page's memory only.";
    return persisted
      ? "This browser has agreed to keep it."
      : "This browser keeps it, but may clear it when it runs short of room.";
  };
  const noBackup = (/** @type {number} */ events) => (events ? "There is no backup yet." : "");
  const draw = async () => {
    const { events, since, persisted, backup } = await store.about();
    about.textContent = [
      events ? `Your log has ${plural(events, "entry", "entries")}.` : "Your log is empty.",
      keptWhere(persisted),
      backup
        ? `Last backup: ${dateOf(backup)}, ${plural(since, "entry", "entries")} ago.`
        : noBackup(events),
    ]
      .filter(Boolean)
      .join(" ");
  };
  const exported = async () => {
    const text = await store.export(),
      here = new Date(Date.now() + 60_000 * zoneAt(Date.now()));
    saveAs(text, `handful-study-${here.toISOString().slice(0, 10)}.json`, "application/json");
    await store.backedUp();
    say(
      "Exported. The file holds your whole log; import it here or on another computer, and " +
        "nothing is counted twice.",
    );
  };
  const file = h("input", {
    type: "file",
    accept: ".json,application/json",
    class: "study-file",
    id: "study-import",
    "aria-label": "File to import",
  });
  file.addEventListener("change", async () => {
    const given = file.files?.[0];
    if (!given) return;
    say("Reading the file …");
    try {
      if (given.size > MOST_BYTES)
        throw new Error(`The file is larger than ${MOST_BYTES / 1e6} MB, which no study log is.`);
      const { added, known } = await store.import(await given.text());
      const already = known ? `; ${known.toLocaleString("en")} stood here already` : "";
      say(`Imported: ${plural(added, "new entry", "new entries")}${already}.`);
    } catch (error) {
      say(`Not imported, and nothing was changed. ${/** @type {Error} */ (error).message}`);
    }
    file.value = "";
  });
  const erase = eraseDialog(store, exported, say);
  store.on(draw);
  draw();
  return h(
    "div",
    { class: "study-data" },
    about,
    h(
      "div",
      { class: "study-buttons" },
      h("button", { type: "button", class: "study-button", text: "Export", onclick: exported }),
      h("button", {
        type: "button",
        class: "study-button",
        text: "Import …",
        onclick: () => file.click(),
      }),
      file,
      h("button", {
        type: "button",
        class: "study-button study-danger",
        text: "Erase …",
        onclick: () => erase.open(),
      }),
    ),
    said,
    erase.dialog,
  );
}
