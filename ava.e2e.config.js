// `npm run test:e2e`: clusters with several hosts or through more than one life, which take long.
const build = process.env.BUILD ?? 'build';

export default {
	files: [`${build}/test/e2e/hosts/**/*.test.js`],
	nodeArguments: ['--enable-source-maps'],
	// As for npm test: these tests hand descriptors to processes.
	workerThreads: false,
	concurrency: 4,
	timeout: '60s',
};
