/** The licences of the sources in `packages/tandem-predeploys`: each file names its own, whose text is there. */
import { readdirSync, readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'

const PACKAGE = new URL('../../packages/tandem-predeploys/', import.meta.url)

it('has the text of the licence that each source names', () => {
  const named = new Set<string | undefined>()
  const folder = new URL('sources/', PACKAGE)
  for (const file of readdirSync(folder)) {
    const { input } = JSON.parse(brotliDecompressSync(readFileSync(new URL(file, folder))).toString())
    for (const { content } of Object.values<{ content: string }>(input.sources))
      named.add(/SPDX-License-Identifier: ?(\w+)/.exec(content)?.[1])
  }
  const texts = readdirSync(new URL('licences/', PACKAGE)).map((name) => name.split('-')[0])
  expect(named).toEqual(new Set(texts))
})
