#define ORDER 5
