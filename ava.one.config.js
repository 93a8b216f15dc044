export default {files: ['build/test/**/*.test.js'], nodeArguments: ['--enable-source-maps'], workerThreads: false, timeout: '120s'};
