/** Output for programs: one JSON object per line, written by pino. */
import { type Logger as Log, pino } from 'pino'
import type { ExecutedBlock } from '../chain/block.ts'
import type { ChainUpdate } from '../engine/model.ts'
import type { OnCall, TerminalOptions } from '../options/options.ts'
import { toErrorObject } from '../rpc/error-codes.ts'
import type { LineWriter } from './line-writer.ts'
import { printsActivity, type Reporter } from './reporter.ts'

/** Characters of a method's name that are printed. */
const LONGEST_NAME = 80

/** A value that JSON can represent: `JSON.stringify` drops the members of errors and throws on a bigint. */
function serialisable(value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack }
  return typeof value === 'bigint' ? value.toString() : value
}

function fieldsOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, serialisable(value)]))
}

/** The members of an answered call. */
function callFields(...[method, milliseconds, error, caller]: Parameters<OnCall>): object {
  const { owner, remote, requestId } = caller
  const outcome = error === undefined ? undefined : toErrorObject(error)
  return {
    // Callers may send anything as a method name.
    method: method.slice(0, LONGEST_NAME),
    ms: Math.round(milliseconds * 1000) / 1000,
    ...(outcome !== undefined && { code: outcome.code, error: outcome.message }),
    ...(requestId !== undefined && { request: requestId }),
    ...(remote !== undefined && { remote }),
    ...(owner !== '' && { key: owner }),
  }
}

/** Writes a block that was added to the chain, and its transactions without REMASC's. */
function logBlock(log: Log, { hash, block, receipts }: ExecutedBlock, notes: ChainUpdate['notes']): void {
  const { number, gasUsed } = block.header
  const mined = block.transactions.filter(({ isRemasc }) => !isRemasc)
  log.info({ hash, number, gasUsed: String(gasUsed), transactions: mined.length }, 'block')
  mined.forEach(({ hash, from, to, value }, i) => {
    const receipt = receipts[i]
    const failure = notes?.get(hash)?.failure
    const outcome = {
      gasUsed: String(receipt?.gasUsed),
      succeeded: receipt?.succeeded,
      ...(failure && { failure: failure.reason }),
    }
    log.info({ hash, from, to, value: String(value), ...outcome }, 'transaction')
  })
}

/** Makes the reporter for programs; everything goes to one writer. */
export function createJsonReporter(options: TerminalOptions, output: LineWriter): Reporter {
  const log = pino(
    {
      level: options.logLevel,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    { write: (line) => output.write(line.trimEnd()) },
  )
  const hasActivity = printsActivity(options)
  return {
    logger: {
      debug: (message, fields = {}) => log.debug(fieldsOf(fields), message),
      info: (message, fields = {}) => log.info(fieldsOf(fields), message),
      warn: (message, fields = {}) => log.warn(fieldsOf(fields), message),
      error: (message, fields = {}) => log.error(fieldsOf(fields), message),
    },
    call(...answered) {
      if (hasActivity) log.info(callFields(...answered), 'call')
    },
    chain({ removed, added, notes }) {
      if (!hasActivity) return
      for (const { hash, block } of removed) {
        log.info({ hash, number: block.header.number }, 'block left the chain')
      }
      for (const executed of added) logBlock(log, executed, notes)
    },
    console({ texts, transaction }) {
      for (const text of texts) log.info({ ...(transaction && { transaction }), text }, 'console.log')
    },
    ready(readiness) {
      output.write(JSON.stringify({ ready: true, ...readiness }))
    },
  }
}
