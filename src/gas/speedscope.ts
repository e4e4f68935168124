/** Gas as a file of speedscope (https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources). */
import type { GasReport } from './model.ts'

/** The file: a sampled profile whose weights are gas. Refunds, which belong to no stack, are in its name. */
export function speedscopeFile({ frames, stacks, gasUsed, refunds }: GasReport, name: string): object {
  // A stack that got back more than it spent has no width.
  const shown = stacks.filter(({ gas }) => gas > 0)
  const total = shown.reduce((sum, { gas }) => sum + gas, 0)
  const refunded = refunds === 0 ? '' : `, ${refunds} gas refunded`
  return {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    exporter: 'tandem',
    name: `${name}: ${gasUsed} gas${refunded}`,
    activeProfileIndex: 0,
    shared: {
      frames: frames.map(({ name: shownName, file, line }) => ({
        name: shownName,
        ...(file !== undefined && { file }),
        ...(line !== undefined && { line }),
      })),
    },
    profiles: [
      {
        type: 'sampled',
        name: 'gas',
        unit: 'none',
        startValue: 0,
        endValue: total,
        samples: shown.map((stack) => [...stack.frames]),
        weights: shown.map(({ gas }) => gas),
      },
    ],
  }
}
