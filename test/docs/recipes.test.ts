/** The blocks of README.md, the guides and the operator's page run as they stand. Needs the built command. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Recipe, readBlocks, recipesOf } from '../support/recipes/markdown.ts'
import { missingPrograms, runRecipe } from '../support/recipes/run.ts'
import { saying } from '../support/refusals.ts'

const ROOT = new URL('../../', import.meta.url)
const GUIDES = readdirSync(new URL('docs/guides/', ROOT)).map((name) => `docs/guides/${name}`)
const FILES = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/start.md',
  'docs/operating.md',
  'docs/differences.md',
  ...GUIDES,
]

// Most of the time goes into processes of their own.
describe.concurrent.each(FILES)('%s', (file) => {
  const blocks = readBlocks(readFileSync(new URL(file, ROOT), 'utf8'))

  it('states for each block how it is run, or why it is not', () => {
    expect(blocks.filter(({ directive }) => directive === undefined).map(({ line }) => line)).toEqual([])
  })

  for (const recipe of recipesOf(blocks)) {
    const title = `line ${recipe.line}, ${recipe.directive.how}`
    const missing = missingPrograms(recipe).join(', ')
    // Under CI a program that is missing is a failure.
    if (missing === '' || process.env.CI === 'true') it(title, () => runRecipe(recipe))
    else it.skip(`${title} (skipped: ${missing} is not installed)`)
  }
})

describe.concurrent('a recipe', () => {
  function only(text: string): Recipe {
    const [recipe] = recipesOf(readBlocks(text))
    if (recipe === undefined) throw new Error('there is none')
    return recipe
  }
  const js = (code: string) => only(`<!-- run: js -->\n\`\`\`js\n${code}\n\`\`\``)
  const sh = (code: string) => only(`<!-- run: sh -->\n\`\`\`sh\n${code}\n\`\`\``)
  const CHAIN_ID = `(await (await fetch('http://127.0.0.1:4444', { method: 'POST',
    headers: { 'Content-Type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' })).json()).result`

  it.each([
    [js(`const id = ${CHAIN_ID}\nconsole.log(id) // '0x22'`), /line 3 of the block states another result/],
    [js('throw new Error("broken")'), /broken/],
    [js('const list = [1, 2] // [1, 3]'), /states another result/],
    [js("'a'\n[0, 1].length // 2"), /begins with a bracket/],
    [sh('echo "{\\"a\\": [1]}" # → {"a": [2]}'), /expected: \{"a": \[2\]\}/],
    [sh('false\ntrue'), /ended with 1/],
    [sh('echo \'{"error":{"code":-32601}}\''), /was refused/],
    [sh('tandem start --no-such-flag'), /ended with 2/],
    [
      only('<!-- run: sh -->\n```sh\necho a\n```\n<!-- expect: stdout -->\n```text\nb\n```'),
      /but stdout is\na/,
    ],
  ])('fails when it should: %#', async (recipe, words) => {
    await expect(runRecipe(recipe)).rejects.toThrow(words)
  })

  it.each([
    js(`const id = ${CHAIN_ID}\nid // '0x21'\nconst same = id // '0x…1'`),
    js(
      'Promise.resolve({ a: [1n, null] }) instanceof Promise // true\nconst o = { a: [1n, null] } // { a: [1n, null] }',
    ),
    sh('echo "{\\"a\\": [1]}" # → {"a": […]}'),
  ])('passes when it should: %#', (recipe) => runRecipe(recipe))

  it('has a directive that can be read', () => {
    expect(readBlocks('text\n```sh\ntrue\n```')).toMatchObject([{ line: 2, directive: undefined }])
    const above = (directive: string) => () => readBlocks(`<!-- ${directive} -->\n\`\`\`sh\ntrue\n\`\`\``)
    expect(above('run: perl')).toThrow(saying('line 1: there is no way to run "perl"'))
    expect(above('runs: sh')).toThrow(saying('line 1: there is no directive "runs: sh"'))
    expect(above('not run:')).toThrow(saying('line 1: a block that is not run needs a reason'))
    expect(above('run: sh; quickly')).toThrow(saying('line 1: there is no option "quickly"'))
  })
})
