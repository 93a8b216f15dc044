// `npm run test:real:together`: what drives real components that are its own, so that several files may at a time.
const build = process.env.BUILD ?? 'build';

export default {
	files: [`${build}/test/real/together/*.test.js`],
	nodeArguments: ['--enable-source-maps'],
	// As for npm test: these tests hand descriptors to processes.
	workerThreads: false,
	concurrency: 3,
	timeout: '5m',
};
