/** Checks of the addresses that a node listens on. */
import { createServer } from 'node:net'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import { callableHost, ListenError, listen } from '../../transport/listen.ts'
import { plain } from '../terminal-text.ts'
import { type Finding, inOrder } from './finding.ts'

const ANSWER_TIMEOUT_MS = 2_000

const Version = z.object({ result: z.string() })

/** An address to listen on, and the flag that moves it. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly flag: string
}

/** The name of the node that has a port; `undefined` when what has it is none. */
async function nodeAt({ host, port }: Address): Promise<string | undefined> {
  try {
    const response = await fetch(`http://${callableHost(host)}:${port}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"web3_clientVersion","params":[]}',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    return plain(Version.parse(await response.json()).result.slice(0, 100))
  } catch {
    return undefined
  }
}

/** Can the address be listened on? Names the node that has it already. */
export async function checkPort(address: Address): Promise<Finding> {
  const { host, port, flag } = address
  const check = `port ${port}`
  const server = createServer()
  try {
    const bound = await listen(server, host, port)
    return inOrder(port === 0 ? 'port' : check, `Port ${bound} of ${host} is free.`)
  } catch (error) {
    const found = error instanceof ListenError ? error.message : messageOf(error)
    const node = await nodeAt(address)
    const move = `choose another with ${flag} <number>, or any free one with ${flag} 0`
    return {
      check,
      verdict: 'problem',
      found: node === undefined ? found : `${found} A node answers there: ${node}.`,
      advice:
        node === undefined
          ? `${move[0]?.toUpperCase()}${move.slice(1)}.`
          : `Use that node or stop it; or ${move}.`,
    }
  } finally {
    server.close()
  }
}
