/** The live state that all pages share: the connection, the head, changes of the chain, and the methods that are open. */
import { signal } from '@preact/signals'
import { describeChanges } from '../chain/rule-table.ts'
import { type Checked, isNumber, isText, listOf, objectOf, orNull, recordOf } from './checks.ts'
import { callFor, Feed } from './client.ts'
import { isHex, toNumber } from './format.ts'
import { type Block, type ChainChange, isBlock, isChainChange } from './model.ts'

/** `lost` once an open connection has closed. */
export const connection = signal<'connecting' | 'open' | 'lost'>('connecting')
/** The newest block. */
export const head = signal<Block | undefined>(undefined)
/** The last change of the canonical chain that removed blocks: a reorganisation, or a revert where `added` is empty. */
export const lastRemoval = signal<ChainChange | undefined>(undefined)
/** Grows with each change of chain or pool and each reconnection, at most every 250 ms: a page that shows either loads again. */
export const version = signal(0)
/** Grows with each reorganisation, revert and reconnection: what is known of mined blocks may be wrong. */
export const epoch = signal(0)
/** Text of the live region. */
export const announcement = signal('')
/** Unix seconds of this machine, by the second. */
export const now = signal(Math.floor(Date.now() / 1000))
/** Of the node: chain id, version, what it forks. */
export const identity = signal<
  | {
      readonly chainId: number
      readonly version: string
      readonly fork: string | undefined
      /** Rules with other heights than the network's. */
      readonly rules: string | undefined
    }
  | undefined
>(undefined)

const isMethodList = objectOf(
  { methods: listOf(objectOf({ name: isText })) },
  { info: objectOf({ 'x-rules': recordOf(isText, orNull(isNumber)) }) },
)
const isNodeInfo = objectOf({
  forkConfig: objectOf({ forkUrl: orNull(isText), forkBlockNumber: orNull(isNumber) }),
})

/** The chain that this one forks, and at which block. */
function forkText({
  forkConfig: { forkUrl, forkBlockNumber },
}: Checked<typeof isNodeInfo>): string | undefined {
  return forkUrl === null ? undefined : `fork of ${forkUrl} at block ${forkBlockNumber}`
}
/** Does the node sign for any account that it lists to this caller? */
export const hasAccounts = signal(false)
/** Grows with each reconnection: the node may be another one, with other methods. */
export const reconnections = signal(0)
/** The names of the methods that this caller may use; `undefined` until they are known. */
export const openMethods = signal<ReadonlySet<string> | undefined>(undefined)

/** May this caller use the method? False until the methods are known. */
export function may(method: string): boolean {
  return openMethods.value?.has(method) ?? false
}

/** Sets the text of the live region; repeated texts are announced again. */
export function announce(text: string): void {
  announcement.value = announcement.value === text ? `${text}\u00a0` : text
}

/** Milliseconds between two updates of the pages while the chain changes quickly. */
const THROTTLE_MS = 250

let feed: Feed | undefined
let timer: ReturnType<typeof setTimeout> | undefined
let updatedAt = 0
/** The chain or the pool has changed since the last update began. */
let isStale = false
/** An update has followed the opening of the socket. */
let isFollowing = false
/** The live region shows the loss of the connection. */
let announcedLoss = false

async function update(): Promise<void> {
  try {
    const latest = await callFor(isBlock, 'eth_getBlockByNumber', ['latest', false])
    const before = head.value
    head.value = latest
    // What pages loaded before the first head was known is as new as that head.
    if (before !== undefined) version.value++
    // Until the socket is open, nothing reports that blocks which pages have loaded were replaced.
    if (before !== undefined && before.hash !== latest.hash && !isFollowing) epoch.value++
    isFollowing = connection.value === 'open'
  } catch {
    // The feed reports a lost connection, and each page its own errors.
  } finally {
    timer = undefined
    updatedAt = Date.now()
    if (isStale) scheduleUpdate()
  }
}

/** Updates soon; a hidden page does so when it is shown again, so that until then it costs the node nothing. */
function scheduleUpdate(): void {
  isStale = true
  if (timer !== undefined || document.hidden) return
  timer = setTimeout(
    () => {
      isStale = false
      void update()
    },
    Math.max(0, updatedAt + THROTTLE_MS - Date.now()),
  )
}

function onChain(event: unknown): void {
  if (isChainChange(event) && event.removed.length > 0) {
    const { number, ancestor, removed, added } = event
    lastRemoval.value = event
    epoch.value++
    announce(
      added.length === 0
        ? `Reverted to block ${toNumber(number)}`
        : `Reorganisation at block ${toNumber(ancestor) + 1}: ${removed.length} removed, ${added.length} added`,
    )
  }
  scheduleUpdate()
}

async function loadMethods(): Promise<void> {
  try {
    const { methods, info: described } = await callFor(isMethodList, 'rpc.discover', [true])
    openMethods.value = new Set(methods.map(({ name }) => name))
    const [chainId, text, accounts, info] = await Promise.all([
      may('eth_chainId') ? callFor(isHex, 'eth_chainId') : '0x0',
      may('web3_clientVersion') ? callFor(isText, 'web3_clientVersion') : '',
      may('eth_accounts') ? callFor(listOf(isHex), 'eth_accounts') : [],
      may('anvil_nodeInfo') ? callFor(isNodeInfo, 'anvil_nodeInfo') : undefined,
    ])
    const rules = described && describeChanges(described['x-rules'])
    identity.value = { chainId: Number(chainId), version: text, fork: info && forkText(info), rules }
    hasAccounts.value = accounts.length > 0
  } catch {
    // Without the names no button that changes the chain is shown.
  }
}

/** Connects; called once. */
export function startStore(): void {
  feed = new Feed({
    opened() {
      if (announcedLoss) announce('Connected again')
      announcedLoss = false
      // What the first pages are loading already needs no second load.
      if (connection.value === 'lost') {
        epoch.value++
        reconnections.value++
        void loadMethods()
      }
      connection.value = 'open'
      scheduleUpdate()
    },
    closed() {
      if (!announcedLoss) announce('Connection lost')
      announcedLoss = true
      connection.value = 'lost'
    },
  })
  feed.subscribe(['chain'], onChain)
  feed.subscribe(['newPendingTransactions'], scheduleUpdate)
  document.addEventListener('visibilitychange', () => {
    if (isStale) scheduleUpdate()
  })
  setInterval(() => {
    now.value = Math.floor(Date.now() / 1000)
  }, 1000)
  void loadMethods()
  scheduleUpdate()
}

/** Subscribes to further events, as `eth_subscribe` takes them; the returned function ends it. */
export function subscribe(params: readonly unknown[], onEvent: (event: unknown) => void): () => void {
  return feed?.subscribe(params, onEvent) ?? (() => {})
}
