// `npm run test:real:alone`: what drives real components and shares the machine: its Docker, its network. One file at a time.
const build = process.env.BUILD ?? 'build';

export default {
	files: [`${build}/test/real/*.test.js`],
	nodeArguments: ['--enable-source-maps'],
	// As for npm test: these tests hand descriptors to processes.
	workerThreads: false,
	concurrency: 1,
	timeout: '5m',
};
