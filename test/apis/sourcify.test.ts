/** Sourcify's API v2, by the requests of `@nomicfoundation/hardhat-verify` 3.1.1 (`src/internal/sourcify.ts`). */
import { getAddress, id } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { buildInfo, deploy, FILE } from '../support/build-infos.ts'
import { type VerifyingNode, verifyingNode } from '../support/recorded-compiler.ts'

const info = buildInfo('solc-0.8.24')
const NOBODY = '0x00000000000000000000000000000000000000aa'

let running: VerifyingNode
let address: Hex
beforeEach(async () => {
  running = await verifyingNode()
  address = await deploy(running.node, info, 'Twin')
})
afterEach(() => running.close())

async function call(path: string, body?: unknown) {
  const reply = await fetch(`${running.server.url}${path}`, {
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
}
async function jobOf({ body }: { body: Record<string, unknown> }) {
  await running.apis.idle()
  return call(`/v2/verify/${body.verificationId}`)
}

const submission = {
  stdJsonInput: info.input,
  contractIdentifier: `${FILE}:Twin`,
  compilerVersion: info.solcLongVersion,
}

describe('Sourcify’s API', () => {
  it('verifies standard JSON, and shows the contract', async () => {
    const lookup = `/v2/contract/33/${address}`
    const nothing = { match: null, creationMatch: null, runtimeMatch: null, chainId: '33', address }
    expect(await call(lookup)).toEqual({ status: 404, body: nothing })

    const submitted = await call(`/v2/verify/33/${address}`, submission)
    expect(submitted).toEqual({ status: 202, body: { verificationId: expect.any(String) } })
    const job = await jobOf(submitted)
    expect(job).toMatchObject({
      status: 200,
      body: {
        isJobCompleted: true,
        contract: { match: 'exact_match', runtimeMatch: 'exact_match', chainId: '33' },
      },
    })
    expect(job.body).not.toHaveProperty('error')

    const found = {
      ...nothing,
      match: 'exact_match',
      creationMatch: 'exact_match',
      runtimeMatch: 'exact_match',
    }
    expect(await call(lookup)).toEqual({ status: 200, body: found })
    const { body } = await call(`${lookup}?fields=abi,sources,compilation.compilerVersion`)
    expect(Object.keys(body)).toEqual([...Object.keys(found), 'abi', 'sources', 'compilation'])
    expect(body.abi).toEqual(info.output.contracts[FILE]?.Twin?.abi)
    const all = (await call(`${lookup}?fields=all`)).body
    expect(all).toMatchObject({
      metadata: JSON.parse(info.output.contracts[FILE]?.Twin?.metadata ?? ''),
      sources: info.input.sources,
      compilation: { fullyQualifiedName: `${FILE}:Twin`, compilerVersion: info.solcLongVersion },
      proxyResolution: { isProxy: false },
    })
    expect(await call(`/v2/verify/33/${address}`, submission)).toMatchObject({
      status: 409,
      body: { customCode: 'already_verified' },
    })
  })

  it('verifies by metadata, with sources of any name that have its hashes', async () => {
    const metadata = JSON.parse(info.output.contracts[FILE]?.Twin?.metadata ?? '')
    const content = info.input.sources[FILE]?.content ?? ''
    const missing = await call(`/v2/verify/metadata/33/${address}`, {
      metadata,
      sources: { 'a.sol': `${content} ` },
    })
    expect(missing).toMatchObject({ status: 400, body: { customCode: 'missing_source' } })
    const submitted = await call(`/v2/verify/metadata/33/${address}`, {
      metadata,
      sources: { 'a.sol': content },
    })
    expect((await jobOf(submitted)).body).toMatchObject({ contract: { match: 'exact_match' } })
  })

  it('reports failures in its own form', async () => {
    const other = await call(`/v2/verify/33/${address}`, { ...submission, contractIdentifier: `${FILE}:Box` })
    expect((await jobOf(other)).body).toMatchObject({
      isJobCompleted: true,
      contract: { match: null },
      error: { customCode: 'no_match', errorId: expect.any(String) },
    })
    const old = await call(`/v2/verify/33/${address}`, {
      ...submission,
      compilerVersion: '0.7.6+commit.7338295f',
    })
    expect((await jobOf(old)).body).toMatchObject({ error: { customCode: 'unsupported_compiler_version' } })
    const code = async (path: string, body?: unknown) => {
      const { status, body: answer } = await call(path, body)
      return [status, answer.customCode]
    }
    expect(await code(`/v2/verify/1/${address}`, submission)).toEqual([400, 'unsupported_chain'])
    expect(await code('/v2/verify/33/0x12', submission)).toEqual([400, 'invalid_parameter'])
    expect(await code(`/v2/verify/33/${NOBODY}`, submission)).toEqual([404, 'contract_not_deployed'])
    expect(await code(`/v2/verify/33/${address}`, {})).toEqual([400, 'invalid_parameter'])
    expect(await code('/v2/verify/none')).toEqual([404, 'job_not_found'])
    expect(await code(`/v2/contract/33/${address}/x`)).toEqual([404, undefined])
    for (const length of [6_000_000, 50_000_000]) {
      const body = 'x'.repeat(length)
      expect(await code(`/v2/verify/33/${address}`, body)).toEqual([413, 'request_too_large'])
    }
  })

  it('has the files of the repository that Otterscan 2.10 reads, with checksummed addresses', async () => {
    await running.node.addSources(info)
    const at = `/contracts/full_match/33/${getAddress(address)}`
    const metadata = await call(`${at}/metadata.json`)
    const expected = JSON.parse(info.output.contracts[FILE]?.Twin?.metadata ?? '')
    expect(metadata).toEqual({ status: 200, body: expected })
    const [path = ''] = Object.keys(metadata.body.sources as object)
    const source = info.input.sources[FILE]?.content ?? ''
    // Each of its formats has names of its own, and so have the repositories of Sourcify.
    for (const name of [path, encodeURIComponent(path), path.replaceAll(/[@:]/g, '_'), id(source)]) {
      const reply = await fetch(`${running.server.url}${at}/sources/${name}`)
      expect(reply.headers.get('content-type')).toMatch(/^text\/plain/)
      expect(await reply.text()).toBe(source)
    }
    // Its format SourcifyAPIV2 (`src/sourcify/useSourcify.ts`).
    const fields = 'metadata,runtimeBytecode.sourceMap,stdJsonOutput'
    const lookup = await call(`/v2/contract/33/${getAddress(address)}?fields=${fields}`)
    expect(lookup.body).toMatchObject({
      runtimeMatch: 'exact_match',
      metadata: expected,
      runtimeBytecode: {
        object: info.output.contracts[FILE]?.Twin?.evm.deployedBytecode.object,
        sourceMap: expect.any(String),
      },
      stdJsonOutput: { sources: { [FILE]: { id: 0 } } },
    })
    for (const wrong of [
      `/contracts/partial_match/33/${address}/metadata.json`,
      `/contracts/full_match/1/${address}/metadata.json`,
      `/contracts/full_match/33/${NOBODY}/metadata.json`,
      `${at}/sources/Other.sol`,
      `${at}/sources/%E0%A4%A`,
    ]) {
      expect((await call(wrong)).status, wrong).toBe(404)
    }
  })
})

/** The requests of `@nomicfoundation/hardhat-verify` 2.1.3 (`src/internal/sourcify.ts`), with `/server` as its `apiUrl`. */
describe('Sourcify’s first API', () => {
  const content = info.input.sources[FILE]?.content ?? ''
  const metadata = info.output.contracts[FILE]?.Twin?.metadata ?? ''
  const files = { 'metadata.json': metadata, [FILE]: content }
  const check = (addresses: string, chainIds = '33') =>
    call(`/server/check-all-by-addresses?${new URLSearchParams({ addresses, chainIds })}`)

  it('verifies by metadata within one request', async () => {
    const shown = getAddress(address)
    expect(await check(shown)).toEqual({ status: 200, body: [{ address: shown, status: 'false' }] })
    const body = { address, chain: '33', files }
    const verified = {
      status: 200,
      body: { result: [{ address, chainId: '33', status: 'perfect' }] },
    }
    expect(await call('/server', body)).toEqual(verified)
    expect(await call('/server/verify', body)).toEqual(verified)
    const known = { address: shown, chainIds: [{ chainId: '33', status: 'perfect' }] }
    expect(await check(shown)).toEqual({ status: 200, body: [known] })
    expect((await check(shown, '1')).body).toEqual([{ address: shown, status: 'false' }])
  })

  it('refuses in its own form', async () => {
    const refusal = async (changes: object) => {
      const { status, body } = await call('/server', { address, chain: '33', files, ...changes })
      return [status, body.error]
    }
    expect(await refusal({ chain: '1' })).toEqual([400, 'The chain 1 is not supported: this is 33'])
    expect(await refusal({ address: '0x12' })).toEqual([400, 'Invalid address: 0x12'])
    expect(await refusal({ address: NOBODY })).toEqual([404, `Unable to locate ContractCode at ${NOBODY}`])
    expect(await refusal({ files: {} })).toEqual([400, 'metadata.json is missing among the files'])
    expect(await refusal({ files: { ...files, [FILE]: `${content} ` } })).toEqual([
      400,
      expect.stringContaining(`The source ${FILE} with the hash of the metadata is missing`),
    ])
    const other = await deploy(running.node, info, 'Proxy', { words: [address] })
    expect(await refusal({ address: other })).toEqual([
      400,
      expect.stringContaining(`is not the code at ${other}`),
    ])
    expect((await check('0x12')).status).toBe(400)
    expect(await call('/server', 'x'.repeat(6_000_000))).toMatchObject({ status: 413 })
    expect((await call('/server')).status).toBe(404)
  })
})
