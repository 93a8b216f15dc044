// `npm test`: everything that needs nothing but Node. BUILD names another output folder of tsc.
const build = process.env.BUILD ?? 'build';

export default {
	files: [`${build}/test/**/*.test.js`, `!${build}/test/real/**`],
	nodeArguments: ['--enable-source-maps'],
	// In a worker Node closes descriptors that other threads have opened since; these tests hand descriptors to processes.
	workerThreads: false,
	// Many of them wait for processes and clocks: with as many files as processors half of the machine would idle.
	concurrency: 4,
	timeout: '60s',
};
