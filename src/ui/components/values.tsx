/** Values of the chain as text: links to what a hash names, amounts, times. */
import type { ComponentChildren } from 'preact'
import { ageText, coins, coinUnit, dateText, type Hex, shortened, toBigInt, toNumber } from '../format.ts'
import { momentIn, momentParameters } from '../moment.ts'
import { contractName } from '../names.ts'
import { linkTo, route } from '../router.ts'
import { now } from '../store.ts'

/** A value in the font of code, such as a hash in full; `wrap` breaks it where the line ends. */
export function Mono({
  children,
  wrap = false,
}: {
  readonly children: ComponentChildren
  readonly wrap?: boolean
}) {
  return <span class={wrap ? 'mono wrap' : 'mono'}>{children}</span>
}

/** A link to a block, by its height or its hash. */
export function BlockLink({ block, text }: { readonly block: Hex | number; readonly text?: string }) {
  const isHash = typeof block === 'string' && block.length === 66
  const argument = isHash ? block : toNumber(block)
  return (
    <a
      href={linkTo('block', argument)}
      class={isHash ? 'mono short' : undefined}
      title={isHash ? block : undefined}
    >
      {text ?? (isHash ? shortened(block) : String(argument))}
    </a>
  )
}

/** Links to blocks by their hashes. */
export function BlockLinks({ hashes }: { readonly hashes: readonly Hex[] }) {
  return (
    <>
      {hashes.map((hash) => (
        <span key={hash}>
          <BlockLink block={hash} />{' '}
        </span>
      ))}
    </>
  )
}

/** A link to a transaction. */
export function TransactionLink({
  hash,
  full,
  digits,
}: {
  readonly hash: Hex
  readonly full?: boolean
  readonly digits?: number
}) {
  return (
    <a href={linkTo('tx', hash)} class={full ? 'mono' : 'mono short'} title={hash}>
      {full ? hash : shortened(hash, digits)}
    </a>
  )
}

/** A link to a transaction of the Bitcoin chain. */
export function BitcoinLink({ hash }: { readonly hash: string }) {
  return (
    <a href={linkTo('bitcoin', hash)} class="mono short" title={hash}>
      {shortened(hash)}
    </a>
  )
}

/** Where a moment is shown, the address at the same one. */
function linkToAddress(address: Hex): string {
  const { block, transactions } = momentParameters(momentIn(route.value.parameters))
  if (block === undefined) return linkTo('address', address)
  return linkTo('address', address, { block, ...(transactions !== undefined && { transactions }) })
}

/** A link to an account, with the name of its contract where it is known; a contract's creation has no address. */
export function AddressLink({
  address,
  full,
  digits,
}: {
  readonly address: Hex | null | undefined
  readonly full?: boolean
  /** Digits at each end of a shortened address. */
  readonly digits?: number
}) {
  if (address === null || address === undefined) return <span class="dim">new contract</span>
  const name = contractName(address)
  return (
    <a
      href={linkToAddress(address)}
      class={name === undefined ? (full ? 'mono' : 'mono short') : undefined}
      title={address}
    >
      {name ?? (full ? address : shortened(address, digits))}
      {name !== undefined && full && <span class="mono dim"> {address}</span>}
    </a>
  )
}

/** Wei as coins; the exact amount is the title. A change of a balance has its sign. */
export function Amount({
  wei,
  digits = 6,
  isChange = false,
}: {
  readonly wei: Hex | bigint
  readonly digits?: number
  readonly isChange?: boolean
}) {
  const amount = toBigInt(wei)
  const text = coins(amount, digits)
  const isCut = amount !== 0n && /^\u2212?0$/.test(text)
  return (
    <span class="amount" title={`${amount} wei`}>
      {isChange && amount > 0n && '+'}
      {isCut ? `< 0.${'0'.repeat(digits - 1)}1` : text} <span class="dim">{coinUnit(text)}</span>
    </span>
  )
}

/** How long ago a Unix time was; the date is the title. */
export function Age({ seconds }: { readonly seconds: Hex | number }) {
  const at = toNumber(seconds)
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={dateText(at)}>
      {ageText(at, now.value)}
    </time>
  )
}

/** A Unix time as a date, and how long ago it was. */
export function DateAndAge({ seconds }: { readonly seconds: Hex | number }) {
  return (
    <>
      {dateText(toNumber(seconds))}{' '}
      <span class="dim">
        (<Age seconds={seconds} />)
      </span>
    </>
  )
}

/** Bytes in hex; long ones in a box that scrolls. */
export function Bytes({ hex, label }: { readonly hex: Hex; readonly label: string }) {
  if (hex.length <= 68) return <Mono wrap>{hex}</Mono>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <section class="bytes mono" tabIndex={0} aria-label={label}>
      {hex}
    </section>
  )
}
