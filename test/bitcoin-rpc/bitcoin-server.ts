/** A served Bitcoin node, and a client that calls it over a socket. */
import { type Bitcoin, createBitcoin } from '../../src/bitcoin/bitcoin.ts'
import { type BitcoinRequest, BitcoinRequests } from '../../src/bitcoin-rpc/requests.ts'
import { silentLogger } from '../../src/logger.ts'
import { type BitcoinRpcServer, serveBitcoinRpc } from '../../src/transport/bitcoin/server.ts'

export const USER = 'tandem'
export const PASSWORD = 'päss:word'
export const BASIC = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`
export const START = 1_700_000_000

/** The reply to a call. */
export interface Reply<T = unknown> {
  readonly result: T
  readonly error: { readonly code: number; readonly message: string } | null
  readonly id: unknown
}

/** A node behind a port. */
export class ServedBitcoin {
  readonly bitcoin: Bitcoin
  readonly server: BitcoinRpcServer

  private constructor(bitcoin: Bitcoin, server: BitcoinRpcServer) {
    this.bitcoin = bitcoin
    this.server = server
  }

  static async start(): Promise<ServedBitcoin> {
    let time = START
    const bitcoin = createBitcoin({ clock: () => time++, seed: new Uint8Array(32).fill(3) })
    const options = { host: '127.0.0.1', port: 0, user: USER, password: PASSWORD, logger: silentLogger }
    const report = (method: string, error: unknown) => silentLogger.error(method, { error })
    const requests = new BitcoinRequests({ bitcoin, report, settled: async () => {} })
    const answer = (request: BitcoinRequest, isGone: () => boolean) => requests.answer(request, isGone)
    return new ServedBitcoin(bitcoin, await serveBitcoinRpc(answer, options))
  }

  /** Sends a body as it is. */
  post(body: string, path = '/', authorization: string | undefined = BASIC): Promise<Response> {
    const headers = {
      'Content-Type': 'application/json',
      ...(authorization === undefined ? {} : { authorization }),
    }
    return fetch(`${this.server.url}${path}`, { method: 'POST', body, headers })
  }

  async reply<T>(method: string, params: unknown = [], path = '/'): Promise<Reply<T>> {
    const response = await this.post(JSON.stringify({ jsonrpc: '1.0', id: 'test', method, params }), path)
    return (await response.json()) as Reply<T>
  }

  /** The result of a call; throws the error's code and message. */
  async call<T>(method: string, params: unknown = [], path = '/'): Promise<T> {
    const { result, error } = await this.reply<T>(method, params, path)
    if (error !== null) throw new Error(`${error.code} ${error.message}`)
    return result
  }

  get(path: string): Promise<Response> {
    return fetch(`${this.server.url}${path}`)
  }
}
