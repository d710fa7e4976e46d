// Start Swagger UI on /docs. Without a validator URL it contacts no other server.
SwaggerUIBundle({ url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true, validatorUrl: null });
