// Names of processor architectures as Kubernetes has them (those of Go): manifests written for it select nodes by them.

const names: Readonly<Record<string, string>> = {x64: 'amd64', ia32: '386', arm64: 'arm64', arm: 'arm', ppc64: 'ppc64le'};

/** From what Node.js calls it; one that is not known keeps its name. */
export const kubernetesArchitecture = (name: string): string => (Object.hasOwn(names, name) ? (names[name] ?? name) : name);
