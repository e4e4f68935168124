/** The merged-mining proof of a block: its parts, and whether each step of it holds. */
import { dateText, grouped, type Hex } from '../format.ts'
import { readProof } from '../merged-mining.ts'
import type { Header } from '../model.ts'
import { Fields, Section } from './layout.tsx'
import { Bytes } from './values.tsx'

/** The tail with the tag and the hash behind it set off. */
function Tail({ tail, committed }: { readonly tail: Hex; readonly committed: Hex | undefined }) {
  const at = committed === undefined ? -1 : tail.lastIndexOf(committed.slice(2))
  if (committed === undefined || at < 0) return <Bytes hex={tail} label="Coinbase, from its last block on" />
  const tagDigits = 18
  return (
    <span class="mono wrap">
      {tail.slice(0, at - tagDigits)}
      <mark title="RSKBLOCK:">{tail.slice(at - tagDigits, at)}</mark>
      <mark class="strong" title="Hash behind the tag">
        {tail.slice(at, at + 64)}
      </mark>
      {tail.slice(at + 64)}
    </span>
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
  const { parent, coinbase, siblings, checks, target } = proof
  const isValid = checks.every(({ holds }) => holds)
  return (
    <Section
      title="Merged mining"
      actions={
        <span class={`badge ${isValid ? 'good' : 'bad'}`}>
          {isValid ? 'Proof of work verified' : 'Proof of work not valid'}
        </span>
      }
    >
      <ul class="checks">
        {checks.map(({ holds, text }) => (
          <li key={text} class={holds ? 'good' : 'bad'}>
            <span aria-hidden="true">{holds ? '✓' : '✗'}</span>
            <span class="text">{text}</span>
          </li>
        ))}
      </ul>
      <h3>Parent-chain header</h3>
      <Fields
        rows={[
          [
            'Hash',
            <span key="hash" class="mono">
              {parent.hash}
            </span>,
          ],
          [
            'Target',
            <span key="target" class="mono">
              {target}
            </span>,
          ],
          ['Time', dateText(parent.time)],
          [
            'Previous hash',
            <span key="previous" class="mono">
              {parent.previousHash}
            </span>,
          ],
          [
            'Merkle root',
            <span key="root" class="mono">
              {parent.merkleRoot}
            </span>,
          ],
          ['Version', parent.version],
          [
            'Bits',
            <span key="bits" class="mono">
              {parent.bits}
            </span>,
          ],
          ['Nonce', grouped(parent.nonce)],
        ]}
      />
      <h3>Coinbase</h3>
      <Fields
        rows={[
          [
            'Id',
            <span key="id" class="mono">
              {coinbase.id}
            </span>,
          ],
          [
            'Merged-mining hash',
            <span key="hash" class="mono">
              {header.hashForMergedMining}
            </span>,
          ],
          ['Shortened', `the first ${coinbase.hashedBytes} bytes are given by their SHA-256 state`],
          [
            'SHA-256 state',
            <span key="state" class="mono">
              {coinbase.state}
            </span>,
          ],
          ['Rest', <Tail key="tail" tail={coinbase.tail} committed={coinbase.committed} />],
        ]}
      />
      <h3>Merkle proof</h3>
      {siblings.length === 0 ? (
        <p class="dim">Empty: the parent-chain block has no other transaction.</p>
      ) : (
        <ol class="mono">
          {siblings.map((sibling, i) => (
            <li key={`${i} ${sibling}`}>{sibling}</li>
          ))}
        </ol>
      )}
    </Section>
  )
}
