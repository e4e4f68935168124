/** The merged-mining proof of a block: its parts, and whether each step of it holds. */
import { dateText, grouped, type Hex } from '../format.ts'
import { type Check, type Coinbase, type Proof, readProof } from '../merged-mining.ts'
import type { Header } from '../model.ts'
import { Fields, Section } from './layout.tsx'
import { Bytes, Mono } from './values.tsx'

/** The tail with the tag and the hash after it highlighted. */
function Tail({ tail, committed }: { readonly tail: Hex; readonly committed: Hex | undefined }) {
  const at = committed === undefined ? -1 : tail.lastIndexOf(committed.slice(2))
  if (committed === undefined || at < 0) return <Bytes hex={tail} label="Coinbase, from its last block on" />
  const tagDigits = 18
  return (
    <span class="mono wrap">
      {tail.slice(0, at - tagDigits)}
      <mark title="RSKBLOCK:">{tail.slice(at - tagDigits, at)}</mark>
      <mark class="strong" title="Hash after the tag">
        {tail.slice(at, at + 64)}
      </mark>
      {tail.slice(at + 64)}
    </span>
  )
}

function Checks({ checks }: { readonly checks: readonly Check[] }) {
  return (
    <ul class="checks">
      {checks.map(({ holds, text }) => (
        <li key={text} class={holds ? 'good' : 'bad'}>
          <span aria-hidden="true">{holds ? '✓' : '✗'}</span>
          <span class="text">{text}</span>
        </li>
      ))}
    </ul>
  )
}

function ParentFields({ proof: { parent, target } }: { readonly proof: Proof }) {
  return (
    <Fields
      rows={[
        ['Hash', <Mono key="hash">{parent.hash}</Mono>],
        ['Target', <Mono key="target">{target}</Mono>],
        ['Time', dateText(parent.time)],
        ['Previous hash', <Mono key="previous">{parent.previousHash}</Mono>],
        ['Merkle root', <Mono key="root">{parent.merkleRoot}</Mono>],
        ['Version', parent.version],
        ['Bits', <Mono key="bits">{parent.bits}</Mono>],
        ['Nonce', grouped(parent.nonce)],
      ]}
    />
  )
}

function CoinbaseFields({ coinbase, wanted }: { readonly coinbase: Coinbase; readonly wanted: Hex }) {
  const { id, hashedBytes, state, tail, committed } = coinbase
  return (
    <Fields
      rows={[
        ['Id', <Mono key="id">{id}</Mono>],
        ['Merged-mining hash', <Mono key="hash">{wanted}</Mono>],
        ['Shortened', `the first ${hashedBytes} bytes are given by their SHA-256 state`],
        ['SHA-256 state', <Mono key="state">{state}</Mono>],
        ['Rest', <Tail key="tail" tail={tail} committed={committed} />],
      ]}
    />
  )
}

function Siblings({ siblings }: { readonly siblings: readonly Hex[] }) {
  if (siblings.length === 0) {
    return <p class="dim">Empty: the parent-chain block has no other transaction.</p>
  }
  return (
    <ol class="mono">
      {siblings.map((sibling, i) => (
        <li key={`${i} ${sibling}`}>{sibling}</li>
      ))}
    </ol>
  )
}

/** The section; the genesis and blocks before RSKIP-92 have no proof in this form. */
export function MergedMiningSection({ header }: { readonly header: Header }) {
  const proof = readProof(header)
  if (proof === undefined) {
    return (
      <Section title="Merged mining">
        <p class="dim">This block has no proof in the form of RSKIP-92.</p>
      </Section>
    )
  }
  const isValid = proof.checks.every(({ holds }) => holds)
  return (
    <Section
      title="Merged mining"
      actions={
        <span class={`badge ${isValid ? 'good' : 'bad'}`}>
          {isValid ? 'Proof of work verified' : 'Proof of work not valid'}
        </span>
      }
    >
      <Checks checks={proof.checks} />
      <h3>Parent-chain header</h3>
      <ParentFields proof={proof} />
      <h3>Coinbase</h3>
      <CoinbaseFields coinbase={proof.coinbase} wanted={header.hashForMergedMining} />
      <h3>Merkle proof</h3>
      <Siblings siblings={proof.siblings} />
    </Section>
  )
}
