/**
 * Set up before every test file: every result of every method, on any node or dispatcher, is checked against the
 * method's own schema, traces included. A result outside its schema, or an error that the method does not declare,
 * fails the test that made the call.
 */
import { afterEach, expect, vi } from 'vitest'
import { NodeError } from '../../src/errors.ts'
import { OF_ANY_CALL } from '../../src/rpc/error-meanings.ts'
import { RawJson } from '../../src/rpc/raw-json.ts'
import { addViolation, takeViolations } from './schema-violations.ts'

/** The value that a client reads: raw pieces are parsed, and JSON has no undefined members. */
function received(result: unknown): unknown {
  if (result instanceof RawJson) return result.toJSON()
  return result === undefined ? null : result
}

vi.mock(import('../../src/rpc/method.ts'), async (original) => {
  const actual = await original()
  return {
    ...actual,
    method(definition) {
      const made = actual.method(definition)
      let schema: ReturnType<typeof made.result> | undefined
      const checkResult = (result: unknown): unknown => {
        schema ??= made.result()
        const { error } = schema.safeParse(received(result))
        if (error !== undefined) {
          addViolation(`${made.name} answers what it does not describe: ${error.message}`)
        }
        return result
      }
      const allowed = new Set<string>([...OF_ANY_CALL, ...made.errors])
      const checkError = (error: unknown): never => {
        if (error instanceof NodeError && !allowed.has(error.kind)) {
          addViolation(`${made.name} refuses with ${error.kind}, which it does not describe`)
        }
        throw error
      }
      return {
        ...made,
        call(params, context) {
          try {
            const outcome = made.call(params, context)
            return outcome instanceof Promise ? outcome.then(checkResult, checkError) : checkResult(outcome)
          } catch (error) {
            return checkError(error)
          }
        },
      }
    },
  }
})

afterEach(() => {
  expect(takeViolations()).toEqual([])
})
