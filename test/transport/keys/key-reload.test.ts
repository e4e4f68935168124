/** A served node with API keys whose key file changes while it runs. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { generateKey } from '../../../src/transport/keys/api-key.ts'
import { revokeKey, rotateKey } from '../../../src/transport/keys/key-changes.ts'
import { changeKeys } from '../../../src/transport/keys/key-file.ts'
import { keyFile } from '../../support/api-keys.ts'
import { servedNode } from '../../support/served-node.ts'
import {
  answerTo,
  call,
  keys,
  line,
  lines,
  node,
  open,
  origins,
  start,
  UNAUTHORIZED,
  useGuardedNode,
} from './guarded-node.ts'

useGuardedNode()

describe('a change of the key file', () => {
  it('closes the sockets of a revoked key, and no others', async () => {
    const key = await keys.add('ci')
    const other = await keys.add('other')
    await start()
    const [socket, stays] = [await open(`/${key}`), await open(`/${other}`)]
    const closed = once(socket, 'close')
    await changeKeys(keys.file, (known) => revokeKey(known, 'ci', new Date()))
    const [code, reason] = await closed
    expect([code, String(reason)]).toEqual([1008, 'API key not valid any more'])
    expect(await call(key)).toMatchObject({ status: 401, body: UNAUTHORIZED })
    expect(await answerTo(stays, { jsonrpc: '2.0', id: 1, method: 'eth_chainId' })).toMatchObject({
      result: '0x21',
    })
    stays.close()
  })

  it('ends a key at once, for a request that is still being sent too', async () => {
    const key = await keys.add('ci')
    await start()
    const begun = request(`${node.url}/${key}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Expect: '100-continue' },
    })
    begun.flushHeaders()
    // By then the key has been looked at.
    await once(begun, 'continue')
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, (known) => revokeKey(known, 'ci', new Date()))
    await changed
    begun.end('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')
    const [response] = await once(begun, 'response')
    response.resume()
    expect(response.statusCode).toBe(401)
  })

  it('by a rotation without grace ends the old key, one with grace keeps it', async () => {
    const key = await keys.add('ci')
    await start()
    const socket = await open(`/${key}`)
    const [second, third] = [generateKey(), generateKey()]
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, (known) => rotateKey(known, 'ci', second, 3600, new Date()))
    await changed
    expect([(await call(key)).status, (await call(second)).status]).toEqual([200, 200])
    expect(socket.readyState).toBe(WebSocket.OPEN)
    const closed = once(socket, 'close')
    await changeKeys(keys.file, (known) => rotateKey(known, 'ci', third, 0, new Date()))
    await closed
    const statuses = [(await call(key)).status, (await call(second)).status, (await call(third)).status]
    expect(statuses).toEqual([401, 401, 200])
  })

  it('at the end of its grace closes the sockets of the old key', async () => {
    const key = await keys.add('ci')
    await start()
    const socket = await open(`/${key}`)
    const closed = once(socket, 'close')
    await changeKeys(keys.file, (known) => rotateKey(known, 'ci', generateKey(), 0.3, new Date()))
    expect((await closed)[0]).toBe(1008)
    expect((await call(key)).status).toBe(401)
  })

  it('changes the rights of open sockets', async () => {
    const key = await keys.add('ci', { allow: ['net'] })
    await start()
    const socket = await open(`/${key}`)
    const ask = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
    expect((await answerTo(socket, ask)).error.code).toBe(-32601)
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, ([record]) => (record ? [{ ...record, allow: ['eth'] }] : []))
    await changed
    expect((await answerTo(socket, ask)).result).toBe('0x21')
    socket.close()
  })

  it('that is malformed leaves the keys unchanged, and is logged once', async () => {
    const key = await keys.add('ci')
    await start()
    const complaint = line(/is not JSON/)
    writeFileSync(keys.file, '{"version":1,')
    expect(await complaint).toContain(
      `The key file ${keys.file} is not JSON. The keys from before stay as they were.`,
    )
    expect((await call(key)).status).toBe(200)
    const other = keyFile()
    const added = await other.add('new')
    const changed = line(/the key file has changed/)
    await changeKeys(other.file, (known) => {
      writeFileSync(keys.file, JSON.stringify({ version: 1, keys: known }))
      return known
    })
    await changed
    expect([(await call(key)).status, (await call(added)).status]).toEqual([401, 200])
    other.remove()
  })

  it('never logs or prints a key', async () => {
    const key = await keys.add('ci', { rate: '3/h' })
    await start()
    const answers = [
      await call(key),
      await call(key, 'evm_mine'),
      await call(key),
      await call(key),
      await call(`${key}/`),
    ]
    const changed = line(/the key file has changed/)
    await changeKeys(keys.file, (known) => revokeKey(known, 'ci', new Date()))
    await changed
    answers.push(await call(key))
    const all = JSON.stringify([lines, origins, answers, process.title, process.argv])
    expect(all).toContain('429')
    expect(all).not.toContain(key.slice(7, 20))
  })
})

it('a node does not start with a missing key file', async () => {
  const key = await keys.add('ci')
  await start()
  await expect(servedNode({}, { apiKeys: `${keys.file}.missing` })).rejects.toMatchObject({
    kind: 'invalid-options',
    message: `There is no key file ${keys.file}.missing: make one with tandem keys create --api-keys ${keys.file}.missing --name <name>.`,
  })
  expect((await call(key)).status).toBe(200)
})
