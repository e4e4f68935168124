import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  absentDocuments,
  anchorsOf,
  brokenCitations,
  brokenLinks,
  headingSlug,
} from '../support/doc-links.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** These two hold examples of what must not stand elsewhere. */
const EXAMPLES = new Set(['test/docs/links.test.ts', 'test/support/doc-links.ts'])

function textsIn(folder: string, extension: RegExp): [string, string][] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.split(sep).join('/')}`)
    .filter((path) => extension.test(path) && !path.includes('node_modules/') && !EXAMPLES.has(path))
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')])
}

/** Files of the root that are no Markdown but may cite it. */
const ROOT_SOURCES = /^(Dockerfile|[\w.-]+\.(ts|json))$/

function filesOfRoot(named: RegExp): [string, string][] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isFile() && named.test(entry.name) && entry.name !== 'package-lock.json')
    .map(({ name }) => [name, readFileSync(join(ROOT, name), 'utf8')])
}

const FOLDERS = ['src', 'test', 'scripts', 'fixtures', 'packages']
const PAGES = new Map(
  [filesOfRoot(/\.md$/), ...['docs', ...FOLDERS].map((folder) => textsIn(folder, /\.md$/))].flat(),
)
const SOURCES = new Map(
  [
    filesOfRoot(ROOT_SOURCES),
    textsIn('.ci', /^/),
    ...FOLDERS.map((folder) => textsIn(folder, /\.(tsx|[cm]?[jt]s|json|css|html|py|sol|ya?ml)$/)),
  ].flat(),
)

describe('the documents', () => {
  it('link to files and headings that exist', () => {
    expect(brokenLinks(PAGES, (path) => existsSync(join(ROOT, path)))).toEqual([])
  })

  it('are cited with headings that exist', () => {
    expect(brokenCitations(SOURCES, PAGES)).toEqual([])
    // Prose may name a page that another checkout generates; what it names with an anchor must be there.
    expect(brokenCitations(PAGES, PAGES).filter(({ cited }) => cited.includes('#'))).toEqual([])
  })

  it('are the only documents that are cited', () => {
    expect(absentDocuments(new Map([...SOURCES, ...PAGES]))).toEqual([])
  })

  it('are cited at least once, so that the tests above check something', () => {
    const cited =
      [...SOURCES.values()].join('\n').match(/docs\/internals\/(protocol|rpc-reference)\.md#/g) ?? []
    expect(cited.length).toBeGreaterThan(200)
  })
})

describe('the anchor of a heading', () => {
  it.each([
    ['5.4 REMASC payout', '54-remasc-payout'],
    ['7.1 web3, net, rpc', '71-web3-net-rpc'],
    ['`eth_call` & *more*', 'eth_call--more'],
    ['Größe (in MB)', 'größe-in-mb'],
    ['A [link](https://example.org/x) in it', 'a-link-in-it'],
    ['2² — dash', '2--dash'],
    ['already-dashed', 'already-dashed'],
  ])('%s is %s', (heading, slug) => {
    expect(headingSlug(heading)).toBe(slug)
  })

  it('is numbered from the second equal heading on, and headings in code are ignored', () => {
    const page =
      '# One\n## Same\n```sh\n# no heading\n```\n## Same ##\n~~~\n# nor this\n~~~\n### Same\n#none\n'
    expect([...anchorsOf(page)]).toEqual(['one', 'same', 'same-1', 'same-2'])
  })

  it('can be set by hand', () => {
    expect(anchorsOf('<a id="here"></a>\n`<a id="code"></a>`')).toEqual(new Set(['here']))
  })
})

describe('the checker', () => {
  const pages = new Map([
    ['README.md', '# Top\n[good](docs/a.md#one) [self](#top) [out](https://example.org/#x) ![](docs/p.png)'],
    [
      'docs/a.md',
      '# One\n[up](../README.md) [folder](../src) `[code](nowhere.md)`\n\n[ref]: ../README.md#top\n',
    ],
  ])
  const exists = (path: string) => pages.has(path) || ['src', 'docs/p.png'].includes(path)
  const linksOf = (text: string) => brokenLinks(new Map([...pages, ['docs/b.md', text]]), exists)

  it('accepts valid links', () => {
    expect(brokenLinks(pages, exists)).toEqual([])
  })

  it.each([
    ['[x](missing.md)', 'missing.md'],
    ['[x](a.md#two)', 'a.md#two'],
    ['[x](#nowhere)', '#nowhere'],
    ['[x](../docs/gone/ "title")', '../docs/gone/'],
    ['[x][y]\n\n[y]: ../README.md#bottom', '../README.md#bottom'],
    ['<img src="q.png">', 'q.png'],
    ['![picture](q.svg)', 'q.svg'],
    ['`code` [x](a.md#two) `code`', 'a.md#two'],
  ])('finds the broken link in %j', (text, cited) => {
    expect(linksOf(text)).toEqual([{ path: 'docs/b.md', cited }])
  })

  it.each([
    ['// as in docs/a.md#one.', []],
    ['/** (docs/a.md#one, docs/a.md). */', []],
    ['// docs/a.md#two', ['docs/a.md#two']],
    ['// (docs/gone.md#one, docs/a.md#on)', ['docs/gone.md#one', 'docs/a.md#on']],
    ['// docs/gone.md', ['docs/gone.md']],
    ["new URL('../../docs/a.md', import.meta.url)", []],
    ["new URL('../../docs/gone.md', import.meta.url)", ['../../docs/gone.md']],
    ['// fixtures/gone/README.md', ['fixtures/gone/README.md']],
    ['// https://example.org/docs/gone.md#one', []],
  ])('reads the citations of %j', (text, broken) => {
    expect(brokenCitations(new Map([['src/x.ts', text]]), pages).map(({ cited }) => cited)).toEqual(broken)
  })

  it.each([
    '(protocol 6.3)',
    'Protocol 2: work',
    'protocol section 3',
    '(RSKIP-144, protocol 5.2)',
    ' * for (protocol\n * 5.4)',
    '(rpc-methods 7.4)',
    'see rpc-methods.md',
    '(service.md, rule 1)',
    'ethereumjs-notes 1.2',
    'decisions.md',
    'unitrie.md',
    'chain-protocol.md 5.5',
    '../shared/spec',
  ])('finds the absent document in %j', (text) => {
    expect(absentDocuments(new Map([['src/x.ts', text]]))).toHaveLength(1)
  })

  it.each([
    'docs/internals/protocol.md#63-calls-and-creations',
    'eth_protocolVersion',
    'the protocol, 62 of them',
    'web3-rpc-methods',
    'guides/microservice.md',
    '[protocol.md, 5.8](protocol.md#58-state-root)',
  ])('accepts %j', (text) => {
    expect(absentDocuments(new Map([['src/x.ts', text]]))).toEqual([])
  })
})
