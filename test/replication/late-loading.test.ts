/** A node of its own loads neither the code of clusters nor NATS's client. */
import { expect, it } from 'vitest'
import { linesOf } from '../support/loaded-texts.ts'

const TEXTS = { cluster: 'the log refused a record', client: '_INBOX' }

/** Runs a node of its own, then one that cannot join its cluster: nothing listens on port 1. */
const PROGRAM = `
  const node = await tandem.createNode()
  const server = await tandem.serve(node, { port: 0 })
  const [from] = await node.request({ method: 'eth_accounts' })
  await node.request({ method: 'eth_sendTransaction', params: [{ from, to: from }] })
  for (const page of ['readyz', 'metrics']) await fetch(server.url + '/' + page)
  await server.close()
  await node.close()
  process._rawDebug('joining')
  await tandem.createNode({ cluster: 'nats://127.0.0.1:1' }).catch(({ message }) => process._rawDebug(message))`

it('loads the code of clusters only for a node with the option "cluster"', async () => {
  const lines = await linesOf(PROGRAM, TEXTS)
  const joining = lines.indexOf('joining')
  expect(lines.slice(0, joining).filter((line) => line.startsWith('loaded '))).toEqual([])
  const later = lines.slice(joining).join('\n')
  expect(later).toMatch(/^loaded cluster$/m)
  expect(later).toMatch(/^loaded client$/m)
  expect(later).toMatch(/^NATS at nats:\/\/127\.0\.0\.1:1 cannot be used/m)
})
