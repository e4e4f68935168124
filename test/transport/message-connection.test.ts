import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { silentLogger } from '../../src/logger.ts'
import { MessageConnection } from '../../src/transport/message-connection.ts'
import { DeliveryQueue } from '../../src/transport/outbox.ts'
import { Policy } from '../../src/transport/policy.ts'

const TIMEOUT_MS = 1000

class SlowConnection extends MessageConnection {
  unreadBytes = 1_000_000
  readonly terminate = vi.fn()
  readonly isOpen = true
  protected readonly isPaused = false

  constructor() {
    const policy = new Policy({
      bindAddress: '127.0.0.1',
      hosts: [],
      cors: [],
      trustedProxies: [],
      maxBodyBytes: 1_000_000,
      maxBufferedBytes: 10_000_000,
      transferTimeoutMs: TIMEOUT_MS,
      entitlements: new Set(),
    })
    super({
      caller: { label: 'test' },
      dispatcher: { dispatchText: async () => undefined },
      deliveries: new DeliveryQueue(),
      policy,
      maxBufferBytes: 1_000_000,
      logger: silentLogger,
    })
  }

  send(read: Promise<void>): Promise<void> {
    return this.drained(this.unreadBytes, read)
  }

  sendAll(): void {}
  onOverflow(): void {}
  protected pause(): void {}
  protected resume(): void {}
  protected fail(): void {}
  protected sendReply(): undefined {}
  protected async sendPiece(): Promise<void> {}
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('disconnects a peer that sends no bytes in a whole interval after the first', async () => {
  const connection = new SlowConnection()
  let finish = () => {}
  const sent = connection.send(
    new Promise((resolve) => {
      finish = resolve
    }),
  )
  vi.advanceTimersByTime(TIMEOUT_MS)
  expect(connection.terminate).not.toHaveBeenCalled()
  connection.unreadBytes /= 2
  vi.advanceTimersByTime(TIMEOUT_MS)
  expect(connection.terminate).not.toHaveBeenCalled()
  vi.advanceTimersByTime(TIMEOUT_MS)
  expect(connection.terminate).toHaveBeenCalledOnce()
  finish()
  await sent
})
