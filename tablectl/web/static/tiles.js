// A tile drawn with text and style alone: "5m" → a small tile with a number and a suit.

const HONOURS = ["", "東", "南", "西", "北", "白", "發", "中"];
const SUITS = { m: "萬", p: "筒", s: "索" };

/** An element for a tile such as "5m", "0p", "7z", or a face-down one for null. */
export function tile(text) {
  const element = document.createElement("span");
  element.className = "tile";
  if (text === null) {
    element.classList.add("back");
    return element;
  }
  const [number, suit] = text;
  element.dataset.suit = suit;
  element.title = text;
  if (suit === "z") {
    element.dataset.honour = number;
    element.append(HONOURS[Number(number)]);
    return element;
  }
  if (number === "0") element.classList.add("red");
  const rank = document.createElement("b");
  rank.append(number === "0" ? "5" : number);
  element.append(rank, SUITS[suit]);
  return element;
}
