/** The registry of tracers: a record describes its options and its result. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  BlockTraces,
  TRACERS,
  TraceOptionsObject,
  TraceResult,
} from '../../../../src/rpc/wire/trace/registry.ts'

const HASH = `0x${'1'.repeat(64)}`

describe('the tracers', () => {
  it('have distinct names, the first of which is the default', () => {
    const names = TRACERS.map(({ name }) => name.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
    expect(TraceOptionsObject.read({}, 'options').tracer).toBe(TRACERS[0])
  })

  it.each(TRACERS.map((tracer) => [tracer.name, tracer] as const))(
    '%s is found and described',
    (name, tracer) => {
      for (const given of [name, name.toUpperCase()]) {
        expect(TraceOptionsObject.read({ tracer: given }, 'options').tracer).toBe(tracer)
      }
      expect(tracer.summary).not.toBe('')
      const schema = z.toJSONSchema(tracer.result) as object
      expect(Object.keys(schema).filter((key) => key !== '$schema')).not.toEqual([])
      for (const option of Object.values(tracer.options)) expect(option).toHaveProperty('absent')
      expect(JSON.stringify(z.toJSONSchema(TraceOptionsObject.schema()))).toContain(`"${name}"`)
    },
  )

  it('have result schemas that accept nothing else', () => {
    for (const wrong of [7, 'text', [], { anything: 1 }, { pre: {} }, { structLogs: [] }, null]) {
      expect(TraceResult.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
    }
    for (const wrong of [{}, [{ txHash: HASH }], [{ txHash: HASH, result: 7 }], [7]]) {
      expect(BlockTraces.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false)
    }
    expect(BlockTraces.safeParse([{ txHash: HASH, result: {} }]).success).toBe(true)
  })
})
