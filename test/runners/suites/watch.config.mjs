import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: where Vitest looks for its configuration
export default defineConfig({ test: { include: ['*.watched.mjs'], root: process.env.WATCHED } })
