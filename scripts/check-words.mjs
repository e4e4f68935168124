/** Fails when a retired word stands in the sources or documents: `node scripts/check-words.mjs [path…]`. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const LIST = 'scripts/retired-words.json'
/** Where a retired word may stand: the list, the vocabulary table, and data made elsewhere. */
const EXCEPTED = [LIST, 'docs/architecture.md', 'test/scripts/check-words.test.ts']
const CHECKED = /\.(ts|mjs|md|html|css|yml|sh)$|Dockerfile$/

/** Marks a line that quotes a text of others, such as an error message of the reference node. */
const QUOTED = 'retired-words: quoted'

/** Where a word begins within an identifier. */
const CAMEL_CASE = /([a-z0-9])([A-Z])/g

const rules = JSON.parse(readFileSync(LIST, 'utf8')).map(({ pattern, say }) => ({
  regex: new RegExp(pattern),
  say,
}))

/** @returns the retired words of a text, as lines `number: word (say …)` */
export function retiredWordsIn(text) {
  return text.split('\n').flatMap((line, index) => {
    if (line.includes(QUOTED)) return []
    const parts = line.replace(CAMEL_CASE, '$1 $2')
    return rules.flatMap(({ regex, say }) => {
      const found = regex.exec(line) ?? regex.exec(parts)
      return found === null ? [] : [`${index + 1}: "${found[0]}" (say: ${say})`]
    })
  })
}

/** The checked files that git tracks or would track below the given paths. */
function checkedFiles(paths) {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...paths], {
    encoding: 'utf8',
  })
  return listed
    .split('\n')
    .filter((file) => CHECKED.test(file) && !file.startsWith('fixtures/') && !EXCEPTED.includes(file))
}

if (process.argv[1]?.endsWith('check-words.mjs')) {
  const findings = checkedFiles(process.argv.slice(2)).flatMap((file) =>
    retiredWordsIn(readFileSync(file, 'utf8')).map((finding) => `${file}:${finding}`),
  )
  for (const finding of findings) console.log(finding)
  if (findings.length > 0) {
    console.error(`${findings.length} retired words; docs/architecture.md, section 6, has the words to use`)
    process.exitCode = 1
  }
}
