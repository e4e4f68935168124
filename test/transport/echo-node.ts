/** A dispatcher without a chain for the tests of the transports: it echoes, and holds requests until they are released. */
import type { ServeOptions } from '../../src/options/options.ts'
import { FeedEvent, type Notification } from '../../src/rpc/notification.ts'
import type { Session } from '../../src/rpc/session.ts'
import { type Server, serve } from '../../src/transport/server.ts'

/** A notification that carries a value. */
export function newsOf(value: unknown): Notification {
  return { method: 'eth_subscription', subscription: '0x1', event: new FeedEvent(() => value) }
}

/** Its text. */
export function newsText(value: unknown): string {
  const params = { subscription: '0x1', result: value }
  return JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
}

/** What the echo node received, and its controls. */
export interface EchoNode {
  readonly server: Server
  /** Texts in the order in which they were dispatched. */
  readonly seen: string[]
  readonly sessions: Session[]
  /** Lets all held requests go. */
  release(): void
  /** Resolves when a request is being held. */
  readonly holding: Promise<void>
  close(): Promise<void>
}

/**
 * Serves the fake. A text `hold…` is answered after `release()`; `silent` is answered by nothing; `subscribe` notifies
 * before it is answered; `broken` fails; any other text is answered by `echo:` and itself.
 */
export async function serveEcho(options: ServeOptions = {}): Promise<EchoNode> {
  const seen: string[] = []
  const sessions: Session[] = []
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let held = () => {}
  const holding = new Promise<void>((resolve) => {
    held = resolve
  })
  const server = await serve(
    {
      dispatcher: {
        async dispatchText(text, session) {
          seen.push(text)
          if (!sessions.includes(session)) sessions.push(session)
          if (text === 'broken') throw new Error('/secret/path')
          if (text.startsWith('hold')) {
            held()
            await released
          }
          if (text === 'subscribe') session.notify?.(newsOf(1))
          if (text.includes('rpc.discover')) return '{"jsonrpc":"2.0","id":1,"result":{"openrpc":"1.2.6"}}'
          return text === 'silent' ? undefined : `echo:${text}`
        },
      },
    },
    { port: 0, ...options },
  )
  return { server, seen, sessions, release, holding, close: () => server.close({ graceMs: 0 }) }
}
