/** A connection of the Unix socket: JSON values one after another, as geth's and Anvil's clients write them, each answered by a line. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { NodeError } from '../errors.ts'
import { toErrorObject } from '../rpc/error-codes.ts'
import { CountedBuffer } from './byte-budget.ts'
import { JsonStream } from './json-stream.ts'
import { MessageConnection, type MessageConnectionParts } from './message-connection.ts'

/** One connection. */
export class IpcConnection extends MessageConnection {
  readonly #socket: Socket
  readonly #stream: JsonStream
  /** An incomplete message. */
  readonly #partial: CountedBuffer
  /** The peer sends no more. */
  #hasEnded = false
  /** Why the rest of the stream cannot be read: where its next message begins is not known. */
  #failure: NodeError | undefined

  constructor(socket: Socket, parts: MessageConnectionParts) {
    super(parts)
    this.#socket = socket
    this.#stream = new JsonStream(this.policy.maxBodyBytes)
    this.#partial = new CountedBuffer(this.policy.budget)
    socket
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('error', (error) => this.logger.debug('an IPC connection failed', { error, session: this.label }))
      .once('close', () => {
        this.#partial.resize(0)
        this.leave()
      })
  }

  get isOpen(): boolean {
    return this.#socket.writable
  }

  get unreadBytes(): number {
    return this.#socket.writableLength
  }

  /** Answers the running message, and ends the connection. */
  override async finish(): Promise<void> {
    await super.finish()
    this.#socket.destroySoon()
  }

  terminate(): void {
    this.#socket.destroy()
  }

  onOverflow(): void {
    const message = 'an IPC client does not read its notifications; it is disconnected'
    this.logger.warn(message, { session: this.label })
    this.terminate()
  }

  sendAll(texts: readonly string[]): void {
    this.#socket.write(texts.map((text) => `${text}\n`).join(''))
  }

  protected get isPaused(): boolean {
    return this.#socket.isPaused()
  }

  protected pause(): void {
    this.#socket.pause()
  }

  protected resume(): void {
    this.#socket.resume()
  }

  protected sendReply(text: string): Promise<void> | undefined {
    return this.#write(`${text}\n`)
  }

  protected async sendPiece(piece: Uint8Array, isLast: boolean): Promise<void> {
    await this.#write(piece)
    if (isLast) await this.#write('\n')
  }

  protected fail(): void {
    this.terminate()
  }

  /** Ends the connection once everything is written, where no further message can come. */
  protected override onIdle(): void {
    if (this.#failure === undefined && !this.#hasEnded) return
    if (this.#failure !== undefined && this.isOpen) {
      const error = toErrorObject(this.#failure)
      this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error })}\n`)
    }
    this.#socket.destroySoon()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#failure !== undefined) return
    const { values, failure } = this.#stream.push(chunk)
    for (const value of values) this.receive(value)
    this.#failure = failure
    const hasRoom = this.#partial.resize(failure === undefined ? this.#stream.partial : 0)
    if (!hasRoom) this.terminate()
    else if (failure !== undefined && !this.isHoldingBack) this.onIdle()
  }

  /** A peer may end its side and still read the answers. */
  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (!this.isHoldingBack) this.onIdle()
    // White space before the answer shows whether the peer has closed both sides: the write fails then.
    else if (this.isOpen) this.#socket.write(' ')
  }

  /** Writes; a promise where the peer reads slowly. */
  #write(data: string | Uint8Array): Promise<void> | undefined {
    const socket = this.#socket
    if (!this.isOpen || socket.write(data)) return undefined
    const read = Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
    return this.drained(data.length, read)
  }
}
