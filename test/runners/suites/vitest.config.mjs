import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: where Vitest looks for its configuration
export default defineConfig({
  test: {
    include: ['*.vitest.mjs'],
    root: import.meta.dirname,
    maxWorkers: 2,
    isolate: process.env.ISOLATE !== 'no',
  },
})
