// Adds and multiplies two square matrices, and checks the result: on a GPU where there is one, and else on the processor.
//
// With a GPU:    nvcc -O2 -o matrix matrix.cu
// Without CUDA:  c++ -O2 -x c++ -o matrix matrix.cu
// Run:           ./matrix [SIZE]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef std::vector<float> Matrix;

static void addOnProcessor(const Matrix &a, const Matrix &b, Matrix &sum) {
	for (size_t i = 0; i < a.size(); i++) sum[i] = a[i] + b[i];
}

static void multiplyOnProcessor(const Matrix &a, const Matrix &b, Matrix &product, int n) {
	for (int row = 0; row < n; row++)
		for (int column = 0; column < n; column++) {
			float total = 0;
			for (int k = 0; k < n; k++) total += a[row * n + k] * b[k * n + column];
			product[row * n + column] = total;
		}
}

#ifdef __CUDACC__

__global__ void addKernel(const float *a, const float *b, float *sum, int count) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count) sum[i] = a[i] + b[i];
}

__global__ void multiplyKernel(const float *a, const float *b, float *product, int n) {
	int row = blockIdx.y * blockDim.y + threadIdx.y;
	int column = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= n || column >= n) return;
	float total = 0;
	for (int k = 0; k < n; k++) total += a[row * n + k] * b[k * n + column];
	product[row * n + column] = total;
}

static void check(cudaError_t error) {
	if (error == cudaSuccess) return;
	fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
	exit(1);
}

static bool hasGpu() {
	int count = 0;
	return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

static void onGpu(const Matrix &a, const Matrix &b, Matrix &sum, Matrix &product, int n) {
	size_t bytes = a.size() * sizeof(float);
	float *one, *other, *result;
	check(cudaMalloc(&one, bytes));
	check(cudaMalloc(&other, bytes));
	check(cudaMalloc(&result, bytes));
	check(cudaMemcpy(one, a.data(), bytes, cudaMemcpyHostToDevice));
	check(cudaMemcpy(other, b.data(), bytes, cudaMemcpyHostToDevice));
	int count = n * n;
	addKernel<<<(count + 255) / 256, 256>>>(one, other, result, count);
	check(cudaGetLastError());
	check(cudaMemcpy(sum.data(), result, bytes, cudaMemcpyDeviceToHost));
	dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
	multiplyKernel<<<grid, block>>>(one, other, result, n);
	check(cudaGetLastError());
	check(cudaMemcpy(product.data(), result, bytes, cudaMemcpyDeviceToHost));
	cudaFree(one);
	cudaFree(other);
	cudaFree(result);
}

#else

static bool hasGpu() { return false; }
static void onGpu(const Matrix &, const Matrix &, Matrix &, Matrix &, int) {}

#endif

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 256;
	if (n < 1 || n > 4096) {
		fprintf(stderr, "the size must be a whole number from 1 to 4096\n");
		return 2;
	}
	Matrix a(n * n), b(n * n), sum(n * n), product(n * n), wanted(n * n);
	for (int i = 0; i < n * n; i++) {
		a[i] = (float)(i % 7);
		b[i] = (float)(i % 5);
	}
	bool gpu = hasGpu();
	if (gpu) onGpu(a, b, sum, product, n);
	else {
		addOnProcessor(a, b, sum);
		multiplyOnProcessor(a, b, product, n);
	}
	addOnProcessor(a, b, wanted);
	for (int i = 0; i < n * n; i++)
		if (sum[i] != wanted[i]) return fprintf(stderr, "the sum is wrong at %d\n", i), 1;
	if (gpu) multiplyOnProcessor(a, b, wanted, n);
	else wanted = product;
	double trace = 0;
	for (int i = 0; i < n * n; i++)
		if (std::fabs(product[i] - wanted[i]) > 1e-3f * std::fabs(wanted[i])) return fprintf(stderr, "the product is wrong at %d\n", i), 1;
	for (int i = 0; i < n; i++) trace += product[i * n + i];
	printf("%d x %d on the %s: the sum and the product are right; the trace of the product is %.0f\n", n, n, gpu ? "GPU" : "processor", trace);
	FILE *file = fopen("product.txt", "w");
	if (file == NULL) return 1;
	for (int row = 0; row < n; row++)
		for (int column = 0; column < n; column++) fprintf(file, "%g%c", product[row * n + column], column == n - 1 ? '\n' : ' ');
	return fclose(file);
}
