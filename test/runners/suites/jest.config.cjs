module.exports = {
  rootDir: __dirname,
  testMatch: ['**/*.jest.cjs'],
  testEnvironment: 'tandem/jest',
  transform: {},
  maxWorkers: 2,
}
