"use strict";
// Tables: a click on a heading sorts by it; numbers by value, words by alphabet.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") !== "descending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => {
        const cell = row.cells[column];
        const shown = cell.dataset.value ?? cell.textContent;
        const number = Number.parseFloat(shown);
        return Number.isNaN(number) ? (shown === "" ? -Infinity : shown) : number;
      };
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    });
  });
}

// Questions: all data stands in the page; a question is drawn when it is opened.
const holder = document.getElementById("question-data");
if (holder) {
  const data = JSON.parse(holder.textContent);
  const pick = (id) => document.getElementById(id);
  const [setBox, systemBox, typeBox, stateBox, textBox] = ["set", "system", "type", "state", "text"].map(pick);
  const list = pick("questions"), more = pick("more"), counted = pick("counted"), losses = pick("losses");
  const STEP = 50, LOSSES = data.losses;
  let shown = STEP, loss = "";

  const element = (tag, words, name) => {
    const made = document.createElement(tag);
    if (words !== undefined) made.textContent = words;
    if (name) made.className = name;
    return made;
  };
  const fill = (box, values, all) => {
    const kept = box.value;
    box.replaceChildren(...(all ? [new Option(all, "")] : []), ...values.map((value) => new Option(value, value)));
    if ([...box.options].some((option) => option.value === kept)) box.value = kept;
  };
  const title = (set, id) => set.titles[id] ?? id;

  function questionText(question, row) {
    const line = element("p");
    const spans = (row.anchors ?? []).filter((anchor) => anchor.start >= 0).sort((a, b) => a.start - b.start);
    const points = [...question.text];
    let place = 0;
    for (const anchor of spans) {
      if (anchor.start < place) continue;
      line.append(points.slice(place, anchor.start).join(""));
      const mark = element("mark", points.slice(anchor.start, anchor.end).join(""));
      mark.title = spans.filter((other) => other.start === anchor.start)
        .map((other) => `${other.name} (${other.tier}, ${other.weight})`).join("\n");
      line.append(mark);
      place = anchor.end;
    }
    line.append(points.slice(place).join(""));
    return line;
  }

  function grid(headings, rows) {
    const table = element("table", undefined, "block"), head = table.createTHead().insertRow();
    headings.forEach((words) => head.append(element("th", words)));
    const body = table.createTBody();
    for (const cells of rows) {
      const line = body.insertRow();
      cells.forEach((cell) => { const box = line.insertCell(); box.append(cell); });
    }
    return table;
  }

  function drawn(set, question, row, at) {
    const box = element("div");
    box.append(questionText(question, row));
    if (question.answer) box.append(element("p", `Answer: ${question.answer}`, "soft"));
    const others = Object.keys(set.systems);
    box.append(element("h3", "Gold passages"));
    box.append(grid(["passage", "tokens", "lost", ...others.map((name) => `rank, ${name}`)], question.gold.map((id) => {
      const lost = (row.losses ?? {})[id];
      const rank = row.ranks[id];
      const word = lost ? element("span", lost, "loss") : rank && rank <= 5 ? element("span", "found", "found") : "";
      return [title(set, id), String(set.tokens[id] ?? ""), word,
        ...others.map((name) => String(set.systems[name][at].ranks[id] ?? "–"))];
    })));
    if (row.anchors) {
      box.append(element("h3", row.anchors.length ? "Anchors" : "No anchor was found"));
      if (row.anchors.length) box.append(grid(["entity", "tier", "weight", "span"], row.anchors.map((anchor) =>
        [anchor.name, anchor.tier, String(anchor.weight), anchor.start < 0 ? "–" : `${anchor.start}–${anchor.end}`])));
    }
    if (row.chains) {
      box.append(element("h3", "Chains"));
      for (const chain of row.chains) {
        box.append(element("p", chain.labels.join(" → ") || "–"));
        box.append(element("p", `witnessed by ${chain.witnesses.map((id) => title(set, id)).join(" · ")}`, "soft"));
      }
    }
    if (question.evidences.length) {
      box.append(element("h3", "Annotated reasoning"));
      for (const triple of question.evidences) box.append(element("p", triple.join(" → "), "soft"));
    }
    box.append(element("h3", "First passages"));
    const kept = row.selected && new Set(row.selected);
    box.append(grid(["rank", "passage", "gold", "selected"], row.top.map((id, rank) => [String(rank + 1), title(set, id),
      question.gold.includes(id) ? element("span", "gold", "found") : "", kept ? (kept.has(id) ? "yes" : "") : "–"])));
    for (const note of row.notes ?? []) box.append(element("p", `Note: ${note}`, "soft"));
    return box;
  }

  function matches(question, row) {
    if (typeBox.value && question.type !== typeBox.value) return false;
    if (textBox.value && !question.text.toLowerCase().includes(textBox.value.toLowerCase())) return false;
    const whole = row.whole;
    if (stateBox.value === "missed" && whole) return false;
    if (stateBox.value === "whole" && !whole) return false;
    return !loss || Object.values(row.losses ?? {}).includes(loss);
  }

  function draw() {
    const set = data.sets[setBox.value], rows = set.systems[systemBox.value];
    const found = set.questions.map((question, at) => [question, rows[at], at]).filter(([q, row]) => matches(q, row));
    counted.textContent = `${found.length.toLocaleString("en")} of ${set.questions.length.toLocaleString("en")} questions`;
    list.replaceChildren(...found.slice(0, shown).map(([question, row, at]) => {
      const box = element("details", undefined, "question"), head = element("summary", question.text + " ");
      const got = question.gold.filter((id) => row.ranks[id] && row.ranks[id] <= 5).length;
      head.append(element("span", `${got}/${question.gold.length}`, got === question.gold.length ? "chip found" : "chip loss"));
      for (const word of new Set(Object.values(row.losses ?? {}))) head.append(" ", element("span", word, "chip"));
      box.append(head);
      box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(drawn(set, question, row, at)); });
      return box;
    }));
    more.hidden = found.length <= shown;
    const counts = Object.fromEntries(LOSSES.map((word) => [word, 0]));
    for (const row of rows) for (const word of Object.values(row.losses ?? {})) counts[word] += 1;
    losses.replaceChildren(...LOSSES.filter((word) => counts[word]).map((word) => {
      const chip = element("button", `${word}: ${counts[word]}`, "chip");
      chip.type = "button"; chip.setAttribute("aria-pressed", String(loss === word));
      chip.addEventListener("click", () => { loss = loss === word ? "" : word; shown = STEP; draw(); });
      return chip;
    }));
  }

  function changeSet() {
    const set = data.sets[setBox.value];
    fill(systemBox, Object.keys(set.systems));
    fill(typeBox, [...new Set(set.questions.map((question) => question.type).filter(Boolean))].sort(), "all types");
    shown = STEP; loss = ""; draw();
  }

  fill(setBox, Object.keys(data.sets));
  const first = data.first;
  changeSet();
  if (first) { systemBox.value = first; draw(); }
  setBox.addEventListener("change", changeSet);
  systemBox.addEventListener("change", () => { loss = ""; draw(); });
  for (const box of [typeBox, stateBox]) box.addEventListener("change", () => { shown = STEP; draw(); });
  textBox.addEventListener("input", () => { shown = STEP; draw(); });
  more.addEventListener("click", () => { shown += STEP; draw(); });
}
