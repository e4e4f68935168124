/** Blockscout's API v2: a form with files, and JSON, as its documentation has them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { buildInfo, deploy, FILE, word } from '../support/build-infos.ts'
import { type VerifyingNode, verifyingNode } from '../support/recorded-compiler.ts'

const info = buildInfo('solc-0.8.24')

let running: VerifyingNode
let address: Hex
let library: Hex
beforeEach(async () => {
  running = await verifyingNode()
  library = await deploy(running.node, info, 'Sums')
  address = await deploy(running.node, info, 'Box', { libraries: { Sums: library }, words: [7n, 3n] })
})
afterEach(() => running.close())

async function call(path: string, init?: RequestInit) {
  const reply = await fetch(`${running.server.url}/api/v2/smart-contracts/${path}`, init)
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
}
function form(changes: Record<string, string> = {}): RequestInit {
  const body = new FormData()
  const members = { compiler_version: `v${info.solcLongVersion}`, contract_name: 'Box', license_type: 'mit' }
  for (const [name, value] of Object.entries({ ...members, ...changes })) body.set(name, value)
  body.set('files[0]', new Blob([JSON.stringify(info.input)], { type: 'application/json' }), 'input.json')
  return { method: 'POST', body }
}

describe('Blockscout’s API', () => {
  it('verifies the standard input of a form, and shows the contract', async () => {
    expect(await call(address)).toEqual({ status: 404, body: { message: 'Not found' } })
    const via = `${address}/verification/via/standard-input`
    const started = { status: 200, body: { message: 'Smart-contract verification started' } }
    expect(await call(via, form({ constructor_args: word(7n) + word(4n) }))).toEqual(started)
    await running.apis.idle()
    expect((await call(address)).status).toBe(404)
    expect(await call(via, form({ constructor_args: word(7n) + word(3n) }))).toEqual(started)
    await running.apis.idle()
    expect(await call(address)).toMatchObject({
      status: 200,
      body: {
        name: 'Box',
        is_verified: true,
        is_fully_verified: true,
        file_path: FILE,
        source_code: info.input.sources[FILE]?.content,
        constructor_args: word(7n) + word(3n),
        external_libraries: [{ name: `${FILE}:Sums`, address_hash: library }],
      },
    })
    expect(await call(via, form())).toEqual({ status: 400, body: { message: 'Already verified' } })
  })

  it('refuses in its own form', async () => {
    const post = (body: string, contentType: string, way = 'flattened-code') =>
      call(`${address}/verification/via/${way}`, {
        method: 'POST',
        headers: { 'Content-Type': contentType },
        body,
      })
    expect(await post('{}', 'application/json')).toEqual({
      status: 422,
      body: { message: 'Missing compiler_version' },
    })
    expect((await post('{', 'application/json')).status).toBe(422)
    expect((await post('--x', 'multipart/form-data; boundary=x')).status).toBe(422)
    expect((await post('{}', 'application/json', 'magic')).status).toBe(404)
    expect(await post('x'.repeat(50_000_000), 'application/json')).toEqual({
      status: 413,
      body: { message: expect.stringContaining('larger than 5242880 bytes') },
    })
    expect((await call('0x12')).body).toEqual({ message: 'Invalid parameter(s)' })
    const json = JSON.stringify({
      compiler_version: 'v0.8.1',
      contract_name: 'Box',
      source_code: 'contract Box {}',
      optimization_runs: -1,
    })
    expect((await post(json, 'application/json')).body).toEqual({ message: 'Invalid optimization_runs' })
  })
})
