/** The retired words of a text, as lines `number: "word" (say: …)`. */
export function retiredWordsIn(text: string): string[]
