// Every word the pages show, in English (terms in the field's romaji) and Japanese.

const WORDS = {
  en: {
    language: "日本語",
    switchLanguage: "日本語に切り替える",
    live: "live",
    reconnecting: "connection lost, trying again …",
    connecting: "connecting …",
    noTables: "This daemon serves no table.",
    noGame: "no game",
    link: { up: "table connected", resync: "table is being read again", down: "table not connected" },
    notDurable: "disk trouble: events are kept in memory only",
    paused: "paused",
    phase: {
      seating: "seat draw", ready: "waiting for start", walls: "walls rising", dice: "dice",
      deal: "deal", play: "", tenpai: "tenpai?", result: "result", ended: "game over",
    },
    winds: { E: "E", S: "S", W: "W", N: "N" },
    rounds: { E: "East", S: "South", W: "West", N: "North" },
    round: (wind, number) => `${wind} ${number}`,
    honba: "honba", deposits: "deposits", left: (n) => `${n} left`, dora: "dora indicator",
    riichi: "riichi", dealer: "dealer",
    rank: (n) => ["", "1st", "2nd", "3rd", "4th"][n],
    seat: (n) => `seat ${n}`,
    ron: (who, from) => `${who}: ron from ${from}`,
    tsumo: (who) => `${who}: tsumo`,
    hanFu: (han, fu) => (fu === null ? `${han} han` : `${han} han ${fu} fu`),
    limits: { mangan: "mangan", haneman: "haneman", baiman: "baiman", sanbaiman: "sanbaiman", yakuman: "yakuman" },
    draws: {
      exhaustive: "exhaustive draw", nagashi: "nagashi mangan", kyuushu: "kyuushu kyuuhai",
      suufon: "suufon renda", suucha_riichi: "suucha riichi", suukaikan: "suukaikan", sanchahou: "sanchahou",
    },
    says: {
      game_started: () => "the game begins",
      hand_started: (e, w) => `${w.round(w.rounds["ESWN"[e.round_wind]], e.hand_number)} begins`,
      walls_built: () => "the walls stand",
      dice_rolled: (e) => `dice ${e.dice[0]} + ${e.dice[1]}`,
      dora_revealed: () => "dora indicator turned",
      riichi_declared: (e, w, name) => `${name(e.seat)}: ${e.double ? "double riichi" : "riichi"}`,
      riichi_accepted: (e, w, name) => `${name(e.seat)}: riichi`,
      called: (e, w, name) => `${name(e.seat)}: ${e.kind === "daiminkan" ? "kan" : e.kind}`,
      ankan_declared: (e, w, name) => `${name(e.seat)}: kan`,
      kakan_declared: (e, w, name) => `${name(e.seat)}: kan`,
      draw_reached: () => "no tile left",
      tenpai_declared: (e, w, name) => `${name(e.seat)}: ${e.tenpai ? "tenpai" : "noten"}`,
      hand_drawn: (e, w) => w.draws[e.kind] ?? e.kind,
      hand_ended: (e) => (e.renchan ? "renchan" : "the hand is settled"),
      game_ended: () => "game over",
      hand_taken_over: () => "the result is reported by hand",
      game_paused: () => "paused",
      game_resumed: () => "play goes on",
      score_adjusted: () => "scores adjusted by the referee",
      sanctioned: (e, w, name) => `${name(e.seat)}: ${e.sanction}`,
      seat_thrown: (e) => `seat draw: dice ${e.dice[0]} + ${e.dice[1]}`,
      seats_drawn: () => "the seats are drawn",
      first_dealer_set: (e, w, name) => `${name(e.first_dealer)} deals first`,
      time_called: (e) => (e.last_hand ? "time: this hand is the last" : "time"),
      player_replaced: (e, w, name) => `${name(e.seat)} takes seat ${e.seat}`,
      dora_replaced: () => "dora indicator put right",
      win_bumped: (e, w, name) => `${name(e.seat)} is bumped by ${name(e.by)}`,
      undone: () => "taken back",
    },
  },
  ja: {
    language: "English",
    switchLanguage: "Switch to English",
    live: "ライブ",
    reconnecting: "接続が切れました。再接続しています…",
    connecting: "接続中…",
    noTables: "このサーバーには卓がありません。",
    noGame: "対局なし",
    link: { up: "卓 接続中", resync: "卓の状態を読み直しています", down: "卓 未接続" },
    notDurable: "ディスク障害：記録はメモリのみ",
    paused: "中断中",
    phase: {
      seating: "場所決め", ready: "スタート待ち", walls: "山上昇中", dice: "サイコロ",
      deal: "配牌", play: "", tenpai: "テンパイ？", result: "結果", ended: "終局",
    },
    winds: { E: "東", S: "南", W: "西", N: "北" },
    rounds: { E: "東", S: "南", W: "西", N: "北" },
    round: (wind, number) => `${wind}${number}局`,
    honba: "本場", deposits: "供託", left: (n) => `残り${n}枚`, dora: "ドラ表示牌",
    riichi: "リーチ", dealer: "親",
    rank: (n) => `${n}位`,
    seat: (n) => `席${n}`,
    ron: (who, from) => `${who} ロン（${from}）`,
    tsumo: (who) => `${who} ツモ`,
    hanFu: (han, fu) => (fu === null ? `${han}翻` : `${fu}符${han}翻`),
    limits: { mangan: "満貫", haneman: "跳満", baiman: "倍満", sanbaiman: "三倍満", yakuman: "役満" },
    draws: {
      exhaustive: "流局", nagashi: "流し満貫", kyuushu: "九種九牌", suufon: "四風連打",
      suucha_riichi: "四家立直", suukaikan: "四開槓", sanchahou: "三家和",
    },
    says: {
      game_started: () => "対局開始",
      hand_started: (e, w) => `${w.round(w.rounds["ESWN"[e.round_wind]], e.hand_number)} 開始`,
      walls_built: () => "山ができました",
      dice_rolled: (e) => `サイコロ ${e.dice[0]} + ${e.dice[1]}`,
      dora_revealed: () => "ドラ表示",
      riichi_declared: (e, w, name) => `${name(e.seat)} ${e.double ? "ダブルリーチ" : "リーチ"}`,
      riichi_accepted: (e, w, name) => `${name(e.seat)} リーチ`,
      called: (e, w, name) => `${name(e.seat)} ${{ chi: "チー", pon: "ポン", daiminkan: "カン" }[e.kind]}`,
      ankan_declared: (e, w, name) => `${name(e.seat)} カン`,
      kakan_declared: (e, w, name) => `${name(e.seat)} カン`,
      draw_reached: () => "流局",
      tenpai_declared: (e, w, name) => `${name(e.seat)} ${e.tenpai ? "テンパイ" : "ノーテン"}`,
      hand_drawn: (e, w) => w.draws[e.kind] ?? e.kind,
      hand_ended: (e) => (e.renchan ? "連荘" : "局終了"),
      game_ended: () => "終局",
      hand_taken_over: () => "結果は手入力",
      game_paused: () => "中断",
      game_resumed: () => "再開",
      score_adjusted: () => "点数訂正",
      sanctioned: (e, w, name) => `${name(e.seat)} 罰則（${e.sanction}）`,
      seat_thrown: (e) => `場所決め：サイコロ ${e.dice[0]} + ${e.dice[1]}`,
      seats_drawn: () => "場所決め 終了",
      first_dealer_set: (e, w, name) => `起家 ${name(e.first_dealer)}`,
      time_called: (e) => (e.last_hand ? "時間：この局で終了" : "時間"),
      player_replaced: (e, w, name) => `${name(e.seat)} 交代（席${e.seat}）`,
      dora_replaced: () => "ドラ表示牌 訂正",
      win_bumped: (e, w, name) => `${name(e.seat)} 頭ハネ（${name(e.by)}）`,
      undone: () => "取り消し",
    },
  },
};

const KEY = "tablectl.language";

/** The language asked for in the address, chosen before, or preferred by the browser. */
export function chosenLanguage() {
  const asked = new URLSearchParams(location.search).get("lang");
  const known = asked ?? remembered() ?? navigator.language.slice(0, 2);
  return known in WORDS ? known : "en";
}

/** Remember a language for the next visit; a browser that forbids it simply forgets. */
export function remember(language) {
  try { localStorage.setItem(KEY, language); } catch { /* private windows have no storage */ }
}

function remembered() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

export function wordsOf(language) {
  return WORDS[language];
}

/** One line about an event, or "" when there is nothing to tell. */
export function tell(event, words, name) {
  if (event.type === "won") return tellWin(event, words, name);
  const say = words.says[event.type];
  return say ? say(event, words, name) : "";
}

/** One line about a win: who, from whom, how much. */
function tellWin(win, words, name) {
  const from = win.from_seat ?? win.seat;
  const who = from === win.seat ? words.tsumo(name(win.seat)) : words.ron(name(win.seat), name(from));
  const parts = [];
  if (win.han !== null) parts.push(words.hanFu(win.han, win.fu));
  if (win.limit in words.limits) parts.push(words.limits[win.limit]);
  parts.push(win.points.toLocaleString("en"));
  return `${who} · ${parts.join(" · ")}`;
}
