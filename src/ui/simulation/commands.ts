/** What the buttons of the simulation page do: simulate, open, share, save, send. */
import { orNull } from '../checks.ts'
import { callFor } from '../client.ts'
import { messageOf, toNumber } from '../format.ts'
import { isTransaction, type Transaction } from '../model.ts'
import { linkTo, showAddress } from '../router.ts'
import { simulationCall } from './calls.ts'
import { type Draft, draftOf, isOn, type StepDraft, scenarioOf, stepOf } from './draft.ts'
import { fileText } from './file.ts'
import { linkText, readLinkText } from './link.ts'
import { areOutcomes } from './outcome.ts'
import { at } from './override-rows.ts'
import { draft, noteSent, run } from './page-state.ts'
import type { Scenario } from './scenario.ts'
import { sendStep } from './sending.ts'

let lastRun = 0

/** An error of the node whose path counts the steps that are on from 0, with the number that the page has for the step. */
function numbered(message: string, steps: readonly StepDraft[]): string {
  const numbers = steps.flatMap((step, i) => (isOn(step) ? [i + 1] : []))
  return message.replace(/\bsimulation\.steps\[(\d+)\]\.?/g, (_, index) => `step ${numbers[Number(index)]} `)
}

/** Simulates the steps that are on. Throws an Error in words. */
export async function simulate(): Promise<void> {
  const simulated = draft.value
  const steps = simulated.steps.filter(isOn)
  if (steps.length === 0) throw new Error('There is no step to simulate: add one, or switch one on')
  const [method, params] = simulationCall(scenarioOf(simulated, isOn))
  const outcomes = await callFor(areOutcomes, method, params).catch((error: unknown) => {
    throw new Error(numbered(messageOf(error), simulated.steps))
  })
  const byId = steps.flatMap(({ id }, i) => {
    const outcome = outcomes[i]
    return outcome === undefined ? [] : [[id, outcome] as const]
  })
  run.value = { id: ++lastRun, draft: simulated, outcomes: new Map(byId) }
  // The address of the page opens the same simulation again; fields that no link holds have none.
  await share().catch(() => showAddress(linkTo('simulate')))
}

/** A transaction as the only step, at its place. */
function scenarioOfTransaction(transaction: Transaction): Scenario {
  const { from, to, input, value, gas, blockNumber, transactionIndex } = transaction
  return {
    block: blockNumber ?? 'latest',
    ...(blockNumber !== null && { transactionIndex: toNumber(transactionIndex) }),
    steps: [{ send: { from, ...(to !== null && { to }), data: input, value, gas } }],
  }
}

/** The fields that an address of the page names; absent for the plain address. Throws an Error in words. */
export async function loadAddress(hash: string, link: string | null): Promise<Draft | undefined> {
  if (hash !== '') {
    const transaction = await callFor(orNull(isTransaction), 'eth_getTransactionByHash', [hash])
    if (transaction === null) throw new Error(`There is no transaction ${hash}`)
    return draftOf(scenarioOfTransaction(transaction))
  }
  try {
    return link === null ? undefined : draftOf(await readLinkText(link))
  } catch (error) {
    throw new Error(`The link is broken: ${messageOf(error)}`)
  }
}

/** Shows the fields as the address of the page, which it returns. Throws an Error in words. */
export async function share(): Promise<string> {
  const hash = linkTo('simulate', '', { s: await linkText(scenarioOf(draft.value)) })
  showAddress(hash)
  return new URL(hash, location.href).href
}

/** Opens a step in the debugger, with the steps before it. Throws an Error in words. */
export async function debugStep({ id }: StepDraft): Promise<void> {
  const { steps } = draft.value
  const index = steps.filter(isOn).findIndex((each) => each.id === id)
  if (index === -1) throw new Error('The step is switched off')
  const s = await linkText(scenarioOf(draft.value, isOn))
  location.hash = linkTo('debug', 'simulation', { s, step: String(index) })
}

/** Saves the fields as a file of the browser's downloads. Throws an Error in words. */
export function save(): void {
  const url = URL.createObjectURL(new Blob([fileText(scenarioOf(draft.value))], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'simulation.json'
  link.click()
  // The download has begun with the click.
  setTimeout(() => URL.revokeObjectURL(url))
}

/** Sends a step, and notes how it ended. Throws nothing; returns whether it succeeded. */
export async function sendOne(step: StepDraft, number: number): Promise<boolean> {
  try {
    const outcome = await sendStep(at(`Step ${number}`, () => stepOf(step)))
    noteSent(step.id, outcome)
    return !outcome.hasFailed
  } catch (error) {
    noteSent(step.id, { text: messageOf(error), hasFailed: true })
    return false
  }
}

/** Sends the steps that are on, one after another, until one fails. Throws an Error in words before the first one where a field is wrong. */
export async function sendAll(): Promise<void> {
  const { steps } = draft.value
  scenarioOf(draft.value, isOn)
  for (const [i, step] of steps.entries()) {
    if (step.isOff || step.kind === 'call') continue
    if (!(await sendOne(step, i + 1)))
      throw new Error(`Step ${i + 1} failed: the steps after it were not sent`)
  }
}
