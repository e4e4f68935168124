/** What a transaction would have done under Ethereum's rules, computed on request. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Checked, isFlag, isNumber, isText, listOf, objectOf, orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import { grouped, type Hex, isHex, toBigInt } from '../format.ts'
import { useAction } from '../query.ts'
import { ErrorText } from './action.tsx'
import { Fields, Section, Table } from './layout.tsx'

const FORKS = ['cancun', 'prague', 'shanghai', 'paris', 'london', 'berlin', 'istanbul', 'petersburg'] as const

const isSide = objectOf({ status: isText, reason: orNull(isText), gasUsed: isHex, refund: isHex })
type Side = Checked<typeof isSide>

const isStep = objectOf({ op: isText, pc: isNumber, depth: isNumber, gasCost: isNumber })
type Step = Checked<typeof isStep>

const isReport = objectOf({
  fork: isText,
  chain: isSide,
  ethereum: isSide,
  sameResult: isFlag,
  sameLogs: isFlag,
  gas: listOf(objectOf({ group: isText, chain: isNumber, ethereum: isNumber })),
  firstPriceDifference: orNull(objectOf({ chain: isStep, ethereum: isStep, index: isNumber })),
  parting: orNull(objectOf({ index: isNumber, chain: orNull(isStep), ethereum: orNull(isStep) })),
})
type Report = Checked<typeof isReport>

function statusText({ status, reason }: Side): string {
  return reason === null ? status : `${status}: ${reason}`
}

function stepText(step: Step | null): string {
  return step === null
    ? 'had ended'
    : `${step.op} at ${step.pc}, depth ${step.depth}, ${grouped(step.gasCost)} gas`
}

function difference(chain: bigint, ethereum: bigint): string {
  const value = ethereum - chain
  return value === 0n ? '=' : `${value > 0n ? '+' : '\u2212'}${grouped(value > 0n ? value : -value)}`
}

function OutcomeFields({ report }: { readonly report: Report }) {
  const { chain, ethereum, firstPriceDifference: price, parting } = report
  return (
    <Fields
      rows={[
        [
          'Outcome',
          <span key="outcome" class={report.sameResult ? 'good' : 'bad'}>
            {report.sameResult ? 'The same result' : 'Another result'},{' '}
            {report.sameLogs ? 'the same' : 'other'} events
          </span>,
        ],
        ['This chain', statusText(chain)],
        [`Ethereum (${report.fork})`, statusText(ethereum)],
        [
          'First differing price',
          price &&
            `step ${grouped(price.index)}: ${stepText(price.chain)} here, ${grouped(price.ethereum.gasCost)} gas there`,
        ],
        [
          'First differing step',
          parting &&
            `step ${grouped(parting.index)}: ${stepText(parting.chain)} here, ${stepText(parting.ethereum)} there`,
        ],
      ]}
    />
  )
}

function gasCells(name: ComponentChildren, chain: bigint, ethereum: bigint): ComponentChildren[] {
  return [name, grouped(chain), grouped(ethereum), difference(chain, ethereum)]
}

function GasTable({ report: { gas, chain, ethereum } }: { readonly report: Report }) {
  const total = <strong key="total">gas used</strong>
  return (
    <Table
      label="Gas by group"
      columns={[
        'Gas',
        { name: 'This chain', end: true },
        { name: 'Ethereum', end: true },
        { name: 'Difference', end: true },
      ]}
      rows={[
        ...gas
          .filter((row) => row.chain !== 0 || row.ethereum !== 0)
          .map((row) => ({
            key: row.group,
            cells: gasCells(row.group, BigInt(row.chain), BigInt(row.ethereum)),
          })),
        { key: 'total', cells: gasCells(total, toBigInt(chain.gasUsed), toBigInt(ethereum.gasUsed)) },
      ]}
    />
  )
}

/** The section, with a choice of the fork. */
export function RuleComparison({ hash }: { readonly hash: Hex }) {
  const [fork, setFork] = useState<string>(FORKS[0])
  const [report, setReport] = useState<Report | null>(null)
  const action = useAction(async () => {
    const compared = await callFor(orNull(isReport), 'debug_compareRules', [hash, fork])
    if (compared === null) throw new Error('The transaction is in no block')
    setReport(compared)
  })
  return (
    <Section
      title="Under Ethereum's rules"
      actions={
        <span class="action">
          <select aria-label="Fork" value={fork} onChange={(event) => setFork(event.currentTarget.value)}>
            {FORKS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <button type="button" class="plain" disabled={action.isRunning} onClick={action.run}>
            Compare
          </button>
        </span>
      }
    >
      <ErrorText message={action.error} />
      {report === null ? (
        <p class="dim">
          Runs the transaction again by the rules of an Ethereum fork, and compares result and gas.
        </p>
      ) : (
        <>
          <OutcomeFields report={report} />
          <GasTable report={report} />
        </>
      )}
    </Section>
  )
}
