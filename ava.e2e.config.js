// `npm run test:e2e`: clusters of several hosts, lost stores, starts and ends, more orders of chance: what takes longer than the main way.
const build = process.env.BUILD ?? 'build';

export default {
	files: [`${build}/test/**/long/**/*.test.js`],
	nodeArguments: ['--enable-source-maps'],
	// As for npm test: these tests hand descriptors to processes.
	workerThreads: false,
	concurrency: 4,
	timeout: '60s',
};
