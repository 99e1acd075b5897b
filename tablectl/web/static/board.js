// The hall board: every table at a glance, live. All state comes with the stream; the page keeps none.

import { listen } from "./live.js";
import { tile } from "./tiles.js";
import { chosenLanguage, remember, tell, wordsOf } from "./words.js";

const main = document.getElementById("tables");
const connection = document.getElementById("connection");
const button = document.getElementById("language");
const CARD_RATIO = 0.95; // height of a card for its width
const MIN_WIDTH = 300;
const cards = new Map();
const rows = new Map();
let language = chosenLanguage();
let state = "connecting";

function make(tag, className, parent) {
  const element = document.createElement(tag);
  element.className = className;
  parent?.append(element);
  return element;
}

function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The elements of one table, made once and written to at each change. */
class Card {
  constructor(id) {
    this.root = make("article", "table");
    this.root.dataset.table = id;
    const head = make("div", "head", this.root);
    this.name = make("h2", "name", head);
    this.rules = make("span", "rules", head);
    this.link = make("span", "link", head);
    const felt = make("div", "felt", this.root);
    this.seats = [0, 1, 2, 3].map((seat) => this.makeSeat(seat, felt));
    const centre = make("div", "centre", felt);
    this.round = make("div", "round", centre);
    const counts = make("div", "counts", centre);
    this.honba = this.makeCount("honba", counts);
    this.deposits = this.makeCount("deposits", counts);
    this.dora = make("div", "dora", centre);
    this.left = make("div", "left", centre);
    this.phase = make("div", "phase", centre);
    this.news = make("p", "news", this.root);
    this.news.setAttribute("aria-live", "polite");
    this.scores = null;
  }

  makeSeat(seat, felt) {
    const root = make("section", "seat", felt);
    root.dataset.seat = seat;
    const line = make("div", "who", root);
    const wind = make("span", "wind", line);
    const name = make("span", "player", line);
    const score = make("div", "score", root);
    const points = make("div", "points", root);
    const stick = make("div", "stick", root);
    make("i", "", stick);
    return { root, wind, name, score, points, stick, change: null };
  }

  makeCount(kind, parent) {
    const root = make("span", `count ${kind}`, parent);
    make("i", "", root);
    return { root, number: make("b", "", root) };
  }

  show(row) {
    const words = wordsOf(language);
    const game = row.state.game;
    set(this.name, row.name || row.table);
    set(this.rules, game ? game.ruleset_id : "");
    this.link.dataset.state = row.link.state;
    this.link.title = row.link.reason || words.link[row.link.state];
    set(this.link, row.state.durable ? words.link[row.link.state] : words.notDurable);
    this.root.classList.toggle("idle", !game);
    this.root.classList.toggle("ended", game?.phase === "ended");
    if (!game) {
      set(this.round, words.noGame);
      this.dora.replaceChildren();
      for (const element of [this.left, this.phase, this.news]) set(element, "");
      for (const seat of this.seats) seat.root.hidden = true;
      this.honba.root.hidden = this.deposits.root.hidden = true;
      return;
    }
    this.showCentre(game, words);
    const name = (seat) => game.seats[seat].name || game.seats[seat].player || words.seat(seat);
    game.seats.forEach((seat, number) => this.showSeat(number, seat, game, words, name(number)));
    this.scores = game.seats.map((seat) => seat.score);
    set(this.news, this.tellNews(row, words, name));
  }

  showCentre(game, words) {
    const ended = game.phase === "ended";
    const round = words.round(words.rounds[game.round.wind], game.round.number);
    set(this.round, ended ? words.phase.ended : round);
    for (const [count, value, label] of [
      [this.honba, game.round.honba, words.honba],
      [this.deposits, game.round.deposits, words.deposits],
    ]) {
      count.root.hidden = false;
      count.root.title = label;
      count.root.setAttribute("aria-label", `${label} ${value}`);
      set(count.number, String(value));
    }
    const dora = game.dora.join();
    if (this.dora.dataset.tiles !== dora) {
      this.dora.dataset.tiles = dora;
      this.dora.title = words.dora;
      this.dora.replaceChildren(...game.dora.map(tile));
    }
    set(this.left, game.tiles_left === null ? "" : words.left(game.tiles_left));
    set(this.phase, game.paused ? words.paused : ended ? "" : words.phase[game.phase] ?? "");
  }

  showSeat(number, seat, game, words, name) {
    const shown = this.seats[number];
    shown.root.hidden = false;
    shown.root.classList.toggle("dealer", game.round.dealer === number);
    shown.root.classList.toggle("turn", game.turn === number);
    shown.root.classList.toggle("riichi", seat.riichi !== "no");
    shown.stick.title = seat.riichi === "no" ? "" : words.riichi;
    shown.stick.setAttribute("aria-label", shown.stick.title);
    shown.wind.title = game.round.dealer === number ? words.dealer : "";
    set(shown.wind, seat.wind === null ? "" : words.winds[seat.wind]);
    set(shown.name, name);
    shown.score.classList.toggle("negative", seat.score < 0);
    set(shown.score, seat.score.toLocaleString("en"));
    const final = game.final;
    const points = final
      ? `${words.rank(final.ranks[number])}  ${signed(final.points[number] / final.points_scale)}`
      : "";
    set(shown.points, points);
    const before = this.scores?.[number];
    if (before !== undefined && before !== seat.score) this.showChange(shown, seat.score - before);
  }

  showChange(shown, change) {
    shown.change?.remove();
    shown.change = make("span", change > 0 ? "change up" : "change down", shown.root);
    shown.change.textContent = signed(change);
    shown.change.addEventListener("animationend", (event) => event.target.remove());
  }

  tellNews(row, words, name) {
    return row.news.map((event) => tell(event, words, name)).join("　／　");
  }
}

/** As large as all tables together fit on the screen; below a readable width the page scrolls. */
function arrange() {
  const count = cards.size;
  if (!count) return;
  const gap = parseFloat(getComputedStyle(main).columnGap);
  const wide = main.clientWidth - 2 * parseFloat(getComputedStyle(main).paddingLeft);
  const high = window.innerHeight - main.offsetTop - gap;
  let best = 0;
  let columns = 1;
  for (let tried = 1; tried <= count; tried += 1) {
    const lines = Math.ceil(count / tried);
    const width = Math.min((wide + gap) / tried - gap, ((high + gap) / lines - gap) / CARD_RATIO);
    if (width > best) [best, columns] = [width, tried];
  }
  if (best < MIN_WIDTH) {
    columns = Math.max(1, Math.min(count, Math.floor((wide + gap) / (MIN_WIDTH + gap))));
    best = (wide + gap) / columns - gap;
  }
  main.style.gridTemplateColumns = `repeat(${columns}, ${Math.floor(best)}px)`;
}

function signed(value) {
  const text = Math.abs(value).toLocaleString("en", { maximumFractionDigits: 1 });
  return value > 0 ? `+${text}` : value < 0 ? `−${text}` : "±0";
}

function showRow(row) {
  rows.set(row.table, row);
  cards.get(row.table)?.show(row);
}

function showTables(ids) {
  for (const [id, card] of cards) {
    if (!ids.includes(id)) {
      card.root.remove();
      cards.delete(id);
      rows.delete(id);
    }
  }
  for (const id of ids) {
    if (!cards.has(id)) {
      cards.set(id, new Card(id));
      main.append(cards.get(id).root);
    }
  }
  main.dataset.count = ids.length;
  arrange();
  showWords();
}

function showWords() {
  const words = wordsOf(language);
  document.documentElement.lang = language;
  button.textContent = words.language;
  button.setAttribute("aria-label", words.switchLanguage);
  connection.dataset.state = state;
  set(connection, { live: words.live, lost: words.reconnecting, connecting: words.connecting }[state]);
  if (main.dataset.count === "0") {
    main.replaceChildren(make("p", "empty"));
    set(main.firstChild, words.noTables);
  }
  for (const row of rows.values()) cards.get(row.table)?.show(row);
}

window.addEventListener("resize", arrange);
button.addEventListener("click", () => {
  language = language === "en" ? "ja" : "en";
  remember(language);
  showWords();
});

fetch("/api/tables")
  .then((answer) => answer.json())
  .then(({ venue }) => {
    set(document.getElementById("venue"), venue.name || venue.id);
    document.title = `${venue.name || venue.id} · tablectl`;
  })
  .catch(() => {});

showWords();
listen("/api/stream", { tables: showTables, table: showRow }, (now) => {
  state = now;
  document.body.classList.toggle("lost", now === "lost");
  showWords();
});
